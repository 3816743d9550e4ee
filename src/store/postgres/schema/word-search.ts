/**
 * Text search in a column of words. The GIN index finds the documents that have all words; the text of the words decides
 * about phrases, and about documents that are too long for the index.
 */
import { type TextSearch } from '../../../lang/query.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import { type SearchTerm, pieceOf, wantedPieces } from '../../../lang/text-search.ts'
import { FIELD_END } from '../../../schema/document-words.ts'
import { type Column, wordColumnOf } from '../../layout/columns.ts'
import { searchedSource } from '../../layout/word-source.ts'
import { type Fragment, join, param, raw, sql } from '../../sql/fragment.ts'
import { not } from '../../sql/translation.ts'
import { OutdatedError } from '../connection/failures.ts'

/**
 * What the index contains of a column of words. The engine refuses to index more than a megabyte of words of one
 * document, so such a document is entered under a mark of its own, and every search reads it.
 */
export function indexedWords(column: string): string {
  return `(case when octet_length(${column}) > ${MAX_INDEXED_BYTES} then array_to_tsvector(array['${TOO_LONG}'])
    else array_to_tsvector(string_to_array(btrim(${column}), '  ')) end)`.replaceAll(/\s*\n\s*/g, ' ')
}

const MAX_INDEXED_BYTES = 500_000
/** No word is punctuation. */
const TOO_LONG = '*'

/** A search beside other conditions, or for rows in an order that an index has. */
export function searchIn(
  query: TextSearch<FieldRef>,
  columns: readonly Column[],
  qualifier: string,
): Fragment {
  const { terms } = query
  const name = `${qualifier}${columnFor(query, columns).name}`
  const wanted = terms.filter(({ isExcluded }) => !isExcluded)
  // The text of the words is tested for single words, too: where the engine reads documents in the order of a page, and
  // not by the index, it tests the text first, and makes a list of words only of documents that have them all.
  const indexed = wanted.length === 0 ? [] : [indexTest(name, wanted)]
  return sql`(${join([...indexed, ...terms.map((term) => textTest(name, term))], ' and ')})`
}

/**
 * The only condition of a statement that reads all matches, which the engine finds by the index: it has decided about
 * single words, so the text is read only for phrases. Undefined if nothing is wanted, which no index finds.
 */
export function searchByIndex(
  query: TextSearch<FieldRef>,
  columns: readonly Column[],
  qualifier: string,
): Fragment | undefined {
  const { terms } = query
  if (terms.every(({ isExcluded }) => isExcluded)) return undefined
  const name = `${qualifier}${columnFor(query, columns).name}`
  const isPhrase = ({ words }: SearchTerm): boolean => words.length > 1
  const tests = (tested: readonly SearchTerm[]): readonly Fragment[] =>
    tested.map((term) => textTest(name, term))
  const single = terms.filter((term) => !isPhrase(term))
  // The length is known without reading the text.
  const isIndexed = raw(`octet_length(${name}) <= ${MAX_INDEXED_BYTES}`)
  const decided = single.length === 0 ? [] : [sql`(${isIndexed} or (${join(tests(single), ' and ')}))`]
  const indexed = indexTest(
    name,
    terms.filter((term) => !term.isExcluded || !isPhrase(term)),
  )
  return sql`(${join([indexed, ...decided, ...tests(terms.filter(isPhrase))], ' and ')})`
}

function indexTest(name: string, terms: readonly SearchTerm[]): Fragment {
  return sql`${raw(indexedWords(name))} @@ ${param(tsquery(terms))}::tsquery`
}

function textTest(name: string, term: SearchTerm): Fragment {
  const occurs = sql`strpos(${raw(name)}, ${param(pieceOf(term))}) > 0`
  return term.isExcluded ? not(occurs) : occurs
}

/**
 * Counts each piece in all fields, and once more in those that weigh more than the least: the text of most documents is
 * in one field, and most of it need not be cut out. A text that is split by a piece has one part more than occurrences.
 */
export function scoreIn(
  query: TextSearch<FieldRef>,
  columns: readonly Column[],
  qualifier: string,
): Fragment {
  const { weights, terms } = query
  const name = raw(`${qualifier}${columnFor(query, columns).name}`)
  const pieces = wantedPieces(terms)
  const counted = (text: Fragment, weight: number): readonly Fragment[] =>
    pieces.map(
      (piece) =>
        sql`${raw(`${weight}::bigint`)} * greatest(cardinality(string_to_array(${text}, ${param(piece)})) - 1, 0)`,
    )
  const least = Math.min(...weights)
  const counts = [
    ...counted(name, least),
    ...weights.flatMap((weight, i) =>
      weight === least
        ? []
        : counted(sql`split_part(${name}, ${param(FIELD_END)}, ${raw(String(i + 1))})`, weight - least),
    ),
  ]
  return counts.length === 0 ? raw('0::bigint') : sql`(${join(counts, ' + ')})`
}

function columnFor(query: TextSearch<FieldRef>, columns: readonly Column[]): Column {
  const column = wordColumnOf(columns, searchedSource(query))
  // The catalogue was read before the index was built.
  if (!column) throw new OutdatedError()
  return column
}

/** All words that are wanted, and none that is excluded, in the language of the engine. */
function tsquery(terms: readonly SearchTerm[]): string {
  const words = terms.flatMap(({ words: all, isPrefix, isExcluded }) =>
    all.map((word, i) => {
      const suffix = isPrefix && i === all.length - 1 ? ':*' : ''
      return `${isExcluded ? '!' : ''}${quoted(word)}${suffix}`
    }),
  )
  return `(${[...new Set(words)].join(' & ')}) | ${quoted(TOO_LONG)}`
}

function quoted(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
