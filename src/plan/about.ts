/** What a plan for reading tells by itself, whatever the store. */
import { boundValue } from '../lang/operand.ts'
import { bindQuery } from '../lang/parameters.ts'
import type { ReadPlan } from './plan.ts'

type Sought = Pick<ReadPlan, 'query' | 'arguments' | 'joins' | 'asOf'>

/** The `_id` a plan asks for, when that is all it asks and the id is a text. */
export function requestedId({ query, arguments: given = [], joins = [], asOf }: Sought): string | undefined {
  if (asOf !== undefined || joins.length > 0) return undefined
  if (query?.kind !== 'compare' || query.op !== '$eq' || query.field.field.path !== '_id') return undefined
  const value = boundValue(query.value, given)
  return typeof value === 'string' ? value : undefined
}

/** The same plan with literals in its query, which can be evaluated in memory. */
export function withLiterals(plan: ReadPlan): ReadPlan {
  const { query, arguments: given, ...rest } = plan
  return query && given ? { ...rest, query: bindQuery(query, given) } : plan
}

/** Whether the page reached the last match, so that counting again would tell nothing new. */
export function endsHere({ from, to }: ReadPlan, taken: number): boolean {
  const hasRoom = to === undefined || taken < to - from + 1
  return hasRoom && (taken > 0 || from === 0)
}
