/** Parses a filter into `Query<Named>`; error messages name lines and columns instead of JSON pointers. */
import { ServiceError } from '../../base/errors.ts'
import type { Budget } from '../budget.ts'
import { parseQuery } from '../parse/parse-query.ts'
import { type Named, type Query, mapOwnFields, mapQuery } from '../query.ts'
import { readFilter } from './read-filter.ts'

export function parseFilter(text: string, budget: Budget): Query<Named> {
  const { query, placeOf } = readFilter(text, budget.limits)
  const parsed = placing(placeOf, () => parseQuery(query, '', budget))
  return mapQuery(parsed, (node) =>
    'text' in node
      ? { ...node, at: placeOf(node.at) }
      : mapOwnFields(node, ({ path, at }) => ({ path, at: placeOf(at) })),
  )
}

function placing<T>(placeOf: (pointer: string) => string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof ServiceError) || error.at === undefined) throw error
    throw error.movedTo(placeOf(error.at))
  }
}
