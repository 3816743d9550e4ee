/** How many parts the language may have in one request: each of them is asked of each document, or of each element. */
import { ServiceError } from '../base/errors.ts'
import type { Limits } from '../base/limits.ts'

/** Shared by all that one request says. */
export interface Budget {
  readonly limits: Limits
  /** Of its query, of each `match` in a projection, and of each selector in an update. */
  nodes: number
  /** Of its projection and of those inside of it, with the keys they sort by. */
  items: number
}

/** Where only limits are known, as in metadata, each query and each projection is held to them by itself. */
export type Bounds = Limits | Budget

export function startBudget(limits: Limits): Budget {
  return { limits, nodes: 0, items: 0 }
}

export function budgetIn(bounds: Bounds): Budget {
  return 'limits' in bounds ? bounds : startBudget(bounds)
}

export function countNode(budget: Budget, at: string): void {
  budget.nodes++
  requireWithin(budget.nodes, budget, { what: 'the query of a request, its matches and its selectors', at })
}

export function countItems(budget: Budget, count: number, at: string): void {
  budget.items += count
  requireWithin(budget.items, budget, { what: 'the projections of a request, with their sorts,', at })
}

function requireWithin(
  count: number,
  { limits }: Budget,
  { what, at }: { readonly what: string; readonly at: string },
): void {
  if (count <= limits.queryNodes) return
  const message = `${what} may have at most ${limits.queryNodes} parts together`
  throw new ServiceError('crud:LimitExceeded', message, { at })
}
