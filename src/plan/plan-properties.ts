/** Properties of a read plan that hold for every store. */
import { boundValue } from '../lang/operand.ts'
import { bindQuery } from '../lang/parameters.ts'
import type { ReadPlan } from './plan.ts'

type Sought = Pick<ReadPlan, 'query' | 'arguments' | 'joins' | 'asOf' | 'after'>

/** The `_id` that a plan looks up, if the query is nothing but `_id = text`. Stores have a fast path for it. */
export function requestedId(plan: Sought): string | undefined {
  const { query, arguments: given = [], joins = [], asOf, after } = plan
  if (asOf !== undefined || after || joins.length > 0) return undefined
  if (query?.kind !== 'compare' || query.op !== '$eq' || query.field.field.path !== '_id') return undefined
  const value = boundValue(query.value, given)
  return typeof value === 'string' ? value : undefined
}

/** The plan with its arguments bound: closures evaluate literals, not parameters. */
export function withLiterals(plan: ReadPlan): ReadPlan {
  const { query, arguments: given, ...rest } = plan
  return query && given ? { ...rest, query: bindQuery(query, given) } : plan
}

/**
 * Whether the page reaches the end of the matches. The total then follows from the page, without a count query. An
 * empty page proves that only at offset 0: a later one may lie anywhere beyond the last match. A page after a document
 * shows nothing of the matches before it.
 */
export function endsHere({ from, to, after }: ReadPlan, taken: number): boolean {
  if (after) return false
  const hasRoom = to === undefined || taken < to - from + 1
  return hasRoom && (taken > 0 || from === 0)
}
