/** Text search: the full-text table decides about current documents, and the words of a document about past ones. */
import type { TextSearch } from '../../../lang/query.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import { type SearchTerm, pieceOf, wantedPieces } from '../../../lang/text-search.ts'
import { searchedSource } from '../../layout/word-source.ts'
import { type Fragment, join, literal, param, raw, sql } from '../../sql/fragment.ts'
import type { Table } from '../catalogue.ts'
import { tokenOf } from '../word-tokens.ts'

export function searchIn({ wordTables }: Table, qualifier: string) {
  return (query: TextSearch<FieldRef>): Fragment => {
    const { terms } = query
    const source = searchedSource(query)
    const table = wordTables.get(source)
    if (table !== undefined) return indexedSearch(terms, table, qualifier)
    const words = sql`smalt_words(${raw(qualifier)}doc, ${literal(source)})`
    const tests = terms.map((term) => {
      const occurs = sql`instr(${words}, ${param(pieceOf(term))}) > 0`
      return term.isExcluded ? sql`not (${occurs})` : occurs
    })
    return sql`(${join(tests, ' and ')})`
  }
}

function indexedSearch(terms: readonly SearchTerm[], table: string, qualifier: string): Fragment {
  const wanted = terms.filter(({ isExcluded }) => !isExcluded).map(matchOf)
  const excluded = terms.filter(({ isExcluded }) => isExcluded).map(matchOf)
  const isAmong = (match: string): Fragment =>
    sql`${raw(qualifier)}no in (select rowid from ${raw(`${table} where ${table}`)} match ${param(match)})`
  const without = `(${excluded.join(' OR ')})`
  if (wanted.length === 0) return sql`(not ${isAmong(without)})`
  const all = `(${wanted.join(' AND ')})`
  return isAmong(excluded.length === 0 ? all : `${all} NOT ${without}`)
}

/** In the language of the engine. */
function matchOf({ words, isPrefix }: SearchTerm): string {
  return `"${words.map(tokenOf).join(' ')}"${isPrefix ? ' *' : ''}`
}

export function scoreIn(qualifier: string) {
  return (query: TextSearch<FieldRef>): Fragment => {
    const source = literal(searchedSource(query))
    const weights = param(JSON.stringify(query.weights))
    const pieces = param(JSON.stringify(wantedPieces(query.terms)))
    return sql`smalt_score(${raw(qualifier)}doc, ${source}, ${weights}, ${pieces})`
  }
}
