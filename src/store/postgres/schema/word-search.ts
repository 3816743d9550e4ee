/**
 * Text search in a column of words. The GIN index finds the documents that have all words; the text of the words decides
 * about phrases.
 */
import { type TextSearch } from '../../../lang/query.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import { type SearchTerm, pieceOf, wantedPieces } from '../../../lang/text-search.ts'
import { FIELD_END } from '../../../schema/document-words.ts'
import { type Column, wordColumnOf } from '../../layout/columns.ts'
import { searchedSource } from '../../layout/word-source.ts'
import { type Fragment, join, param, raw, sql } from '../../sql/fragment.ts'
import { arrayText } from '../../sql/postgres-dialect.ts'
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

export function searchIn(
  query: TextSearch<FieldRef>,
  columns: readonly Column[],
  qualifier: string,
): Fragment {
  const { terms } = query
  const name = `${qualifier}${columnFor(query, columns).name}`
  const tests = terms.map((term) => {
    const occurs = sql`strpos(${raw(name)}, ${param(pieceOf(term))}) > 0`
    return term.isExcluded ? not(occurs) : occurs
  })
  const wanted = terms.filter(({ isExcluded }) => !isExcluded)
  // The text of the words is tested for single words, too: where the engine reads documents in the order of a page, and
  // not by the index, it tests the text first, and makes a list of words only of documents that have them all.
  const indexed =
    wanted.length === 0 ? [] : [sql`${raw(indexedWords(name))} @@ ${param(tsquery(wanted))}::tsquery`]
  return sql`(${join([...indexed, ...tests], ' and ')})`
}

/** Counts each piece in each field: the text without the piece is shorter by its length for each occurrence. */
export function scoreIn(
  query: TextSearch<FieldRef>,
  columns: readonly Column[],
  qualifier: string,
): Fragment {
  const { weights, terms } = query
  const name = `${qualifier}${columnFor(query, columns).name}`
  const pieces = param(arrayText(wantedPieces(terms)))
  const parts = sql`string_to_array(${raw(name)}, ${param(FIELD_END)}), ${param(arrayText(weights.map(String)))}::bigint[]`
  const count = raw(
    "(octet_length(field.part) - octet_length(replace(field.part, piece.text, ''))) / octet_length(piece.text)",
  )
  return sql`(select coalesce(sum(field.weight * (${count})), 0) from unnest(${parts}) as field(part, weight), unnest(${pieces}::text[]) as piece(text))`
}

function columnFor(query: TextSearch<FieldRef>, columns: readonly Column[]): Column {
  const column = wordColumnOf(columns, searchedSource(query))
  // The catalogue was read before the index was built.
  if (!column) throw new OutdatedError()
  return column
}

/** All words, in the language of the engine. */
function tsquery(terms: readonly SearchTerm[]): string {
  const words = terms.flatMap(({ words: all, isPrefix }) =>
    all.map((word, i) => (isPrefix && i === all.length - 1 ? `${quoted(word)}:*` : quoted(word))),
  )
  return `(${[...new Set(words)].join(' & ')}) | ${quoted(TOO_LONG)}`
}

function quoted(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
