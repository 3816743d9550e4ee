/**
 * Text search: the full-text table finds current documents and the words beside it count, without a look into documents.
 * Past documents have no tables, so that their words are cut again.
 */
import { type Query, type TextSearch, conjunctsOf } from '../../../lang/query.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import { type SearchTerm, pieceOf, wantedPieces } from '../../../lang/text-search.ts'
import { searchedSource } from '../../layout/word-source.ts'
import { type Fragment, join, literal, param, raw, sql } from '../../sql/fragment.ts'
import type { Table } from '../catalogue.ts'
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
  const [term, ...others] = conjunctsOf(query)
  if (term?.kind !== 'text' || others.length > 0) return undefined
  const tables = wordTables.get(searchedSource(term))
  const match = matchOfAll(term.terms)
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

/**
 * Counts each piece in each field: the text without the piece is shorter by its length for each occurrence. All of it is
 * done by the engine, as calls of our functions for each of many documents take longer than the count.
 */
export function scoreIn({ name, wordTables }: Table, qualifier: string) {
  return (query: TextSearch<FieldRef>): Fragment => {
    const pieces = wantedPieces(query.terms)
    const tables = wordTables.get(searchedSource(query))
    // Nothing is wanted, or the index was dropped since the request was resolved; the next one is refused.
    if (!tables || pieces.length === 0) return raw('abs(0)')
    const counts = query.weights.map((weight, i) => {
      const words = `w.${wordColumn(i)}`
      return `${weight} * ((octet_length(${words}) - octet_length(replace(${words}, p.column1, ''))) / octet_length(p.column1))`
    })
    const values = join(
      pieces.map((piece) => sql`(${param(piece)})`),
      ', ',
    )
    const row = raw(`${qualifier === '' ? `${name}.` : qualifier}no`)
    return sql`coalesce((select sum(${raw(counts.join(' + '))}) from ${raw(tables.texts)} w, (values ${values}) p where w.no = ${row}), 0)`
  }
}
