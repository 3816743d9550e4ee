/** The two spellings of a query, for programs that show or store one of them. */
import type { Json, JsonObject } from '../../base/json/json.ts'
import { DEFAULT_LIMITS } from '../../base/limits.ts'
import { parseQuery } from '../parse/parse-query.ts'
import { printFilter } from './print-filter.ts'
import { readFilter } from './read-filter.ts'

/** The JSON form of a filter. Throws a ServiceError that names line and column. */
export function filterToQuery(filter: string): JsonObject {
  return readFilter(filter, DEFAULT_LIMITS).query
}

/** A query as a filter. Throws a ServiceError if it is no query. */
export function queryToFilter(query: Json): string {
  return printFilter(parseQuery(query, '', DEFAULT_LIMITS))
}
