/**
 * Text search: the full-text table finds current documents and the words beside it count, without a look into documents.
 * Past documents have no tables, so that their words are cut again.
 */
import { type Query, type TextSearch, conjunctsOf } from '../../../lang/query.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import { type SearchTerm, pieceOf, wantedPieces } from '../../../lang/text-search.ts'
import { searchedSource } from '../../layout/word-source.ts'
import { type Fragment, join, literal, param, raw, sql } from '../../sql/fragment.ts'
import { SQLITE } from '../../sql/sqlite-dialect.ts'
import type { Table } from '../catalogue.ts'
import type { ScoredSearch } from '../file/word-functions.ts'
import { tokenOf, wordColumn } from '../word-tokens.ts'

export function searchIn({ wordTables }: Table, qualifier: string) {
  return (query: TextSearch<FieldRef>): Fragment => {
    const { terms } = query
    const source = searchedSource(query)
    const tables = wordTables.get(source)
    if (tables) return indexedSearch(terms, tables.fullText, qualifier)
    const words = sql`smalt_words(${raw(qualifier)}doc, ${literal(source)})`
    const tests = terms.map((term) => {
      const occurs = sql`instr(${words}, ${param(pieceOf(term))}) > 0`
      return term.isExcluded ? sql`not (${occurs})` : occurs
    })
    return sql`(${join(tests, ' and ')})`
  }
}

/**
 * The rows of the full-text table that are the matches, one for each; undefined if the query asks for anything else than
 * words. They are counted without a look into the table of documents.
 */
export function searchedRows(query: Query<FieldRef>, { wordTables }: Table): Fragment | undefined {
  const search = onlySearch(query)
  const tables = search && wordTables.get(searchedSource(search))
  const match = search && matchOfAll(search.terms)
  if (!tables || match === undefined) return undefined
  return sql`${raw(`${tables.fullText} where ${tables.fullText}`)} match ${param(match)}`
}

function indexedSearch(terms: readonly SearchTerm[], table: string, qualifier: string): Fragment {
  const isAmong = (match: string): Fragment =>
    sql`${raw(qualifier)}no in (select rowid from ${raw(`${table} where ${table}`)} match ${param(match)})`
  const match = matchOfAll(terms)
  return match === undefined ? sql`(not ${isAmong(`(${terms.map(matchOf).join(' OR ')})`)})` : isAmong(match)
}

/** Undefined if all terms are excluded, which the engine cannot search for. */
function matchOfAll(terms: readonly SearchTerm[]): string | undefined {
  const wanted = terms.filter(({ isExcluded }) => !isExcluded).map(matchOf)
  const excluded = terms.filter(({ isExcluded }) => isExcluded).map(matchOf)
  if (wanted.length === 0) return undefined
  const all = `(${wanted.join(' AND ')})`
  return excluded.length === 0 ? all : `${all} NOT (${excluded.join(' OR ')})`
}

/** In the language of the engine. */
function matchOf({ words, isPrefix }: SearchTerm): string {
  return `"${words.map(tokenOf).join(' ')}"${isPrefix ? ' *' : ''}`
}

/** A subselect with the relevance of a row. */
export function scoreIn({ name, wordTables }: Table, qualifier: string) {
  return (query: TextSearch<FieldRef>): Fragment => {
    const tables = wordTables.get(searchedSource(query))
    // The index was dropped since the request was resolved; the next one is refused.
    if (!tables) return raw('abs(0)')
    const row = `${qualifier === '' ? `${name}.` : qualifier}no`
    return sql`coalesce((select ${scoreOf(query)} from ${raw(`${tables.texts} w where w.no = ${row}`)}), 0)`
  }
}

/**
 * The row numbers of the matches as `found`, and how relevant they are as `score`, without a look into the table of
 * documents; undefined if the query asks for anything else than words.
 */
export function scoredRows(
  query: Query<FieldRef>,
  { wordTables }: Table,
  isWatched: boolean,
): Fragment | undefined {
  const search = onlySearch(query)
  const tables = search && wordTables.get(searchedSource(search))
  const match = search && matchOfAll(search.terms)
  if (!tables || match === undefined) return undefined
  const { fullText, texts } = tables
  const from = raw(`from ${fullText} cross join ${texts} w on w.no = ${fullText}.rowid where ${fullText}`)
  const watched = isWatched ? sql` and ${SQLITE.alive(raw('w.no'))}` : raw('')
  return sql`select w.no as found, ${scoreOf(search)} as score ${from} match ${param(match)}${watched}`
}

/**
 * One call of our function for the words of a document, beside it as `w`: the functions of the engine copy the words for
 * each of the pieces.
 */
function scoreOf({ weights, terms }: TextSearch<FieldRef>): Fragment {
  const search: ScoredSearch = { weights, pieces: wantedPieces(terms) }
  const fields = weights.map((_, i) => `w.${wordColumn(i)}`)
  return sql`smalt_score(${param(JSON.stringify(search))}, ${raw(fields.join(', '))})`
}

function onlySearch(query: Query<FieldRef>): TextSearch<FieldRef> | undefined {
  const [term, ...others] = conjunctsOf(query)
  return term?.kind === 'text' && others.length === 0 ? term : undefined
}
