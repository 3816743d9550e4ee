/** Text search: the full-text table decides about current documents, and the words of a document about past ones. */
import type { TextSearch } from '../../../lang/query.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import { type SearchTerm, pieceOf, wantedPieces } from '../../../lang/text-search.ts'
import { type Fragment, join, literal, param, raw, sql } from '../../sql/fragment.ts'
import type { Table } from '../catalogue.ts'
import { tokenOf, wordPaths } from '../word-tokens.ts'

export function searchIn({ wordTables }: Table, qualifier: string) {
  return ({ fields, terms }: TextSearch<FieldRef>): Fragment => {
    const paths = wordPaths(fields.map(({ field }) => field.path))
    const table = wordTables.get(paths)
    if (table !== undefined) return indexedSearch(terms, table, qualifier)
    const words = sql`smalt_words(${raw(qualifier)}doc, ${literal(paths)})`
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
  return ({ fields, weights, terms }: TextSearch<FieldRef>): Fragment => {
    const paths = literal(wordPaths(fields.map(({ field }) => field.path)))
    const pieces = param(JSON.stringify(wantedPieces(terms)))
    return sql`smalt_score(${raw(qualifier)}doc, ${paths}, ${param(JSON.stringify(weights))}, ${pieces})`
  }
}
