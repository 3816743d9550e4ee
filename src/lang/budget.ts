/**
 * Limits the number of query nodes and projection items in one request, because each is evaluated for every document or
 * every array element.
 */
import { ServiceError } from '../base/errors.ts'
import type { Limits } from '../base/limits.ts'

/** Shared by query, projection and update of one request. */
export interface Budget {
  readonly limits: Limits
  /** Query nodes so far: of the query, of each `match` in a projection, and of each selector in an update. */
  nodes: number
  /** Projection items so far, nested ones and their sort keys included. */
  items: number
  /** When the request is, as a stored date; absent where there is no request, as in metadata. */
  readonly now?: () => string
}

/** With plain limits, as in metadata, each query and each projection has a budget of its own. */
export type Bounds = Limits | Budget

export function startBudget(limits: Limits, now?: () => string): Budget {
  return { limits, nodes: 0, items: 0, ...(now && { now }) }
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
