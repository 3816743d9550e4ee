/** Find, the path of every request: prepare, bind, read, render. */
import type { Caller } from '../../access/caller.ts'
import type { Json } from '../../base/json/json.ts'
import { parameterized } from '../../lang/parameters.ts'
import { type Deps, boundsOf, pageBounds, workOf } from '../deps.ts'
import { readFind } from '../request/request.ts'
import { type DataResponse, complete } from '../response.ts'
import type { Target } from '../service.ts'
import { createPage } from './page.ts'
import { plannedFind } from './plan-find.ts'
import { type PreparedFind, bindFind, preparedFrom, preparedOnce } from './prepared/prepared-finds.ts'
import { type QueryShape, shapeOf } from './prepared/query-shape.ts'
import { readPage } from './read-page.ts'

interface UnreadFind {
  readonly target: Target
  readonly body: Json
}

export async function find(deps: Deps, caller: Caller, unread: UnreadFind): Promise<DataResponse> {
  const { target, body } = unread
  const shape = shapeOf(body, deps.limits)
  const prepared = shape && prepareFind(deps, caller, { ...unread, shape })
  const bound = prepared && bindFind(prepared, shape.literals)
  const { allowed, plan, maxTimeMs } = bound ?? plannedFind(deps, caller, readFind(body, target, deps.limits))
  const { schema, asOf } = allowed
  const work = workOf(deps, { work: target.work, maxTimeMs })
  const page = createPage(allowed, plan, pageBounds(deps, work))
  const bounds = boundsOf(work, target)
  const { matchCount } = await readPage(plan, { deps, schema, bounds, asOf }, page.take)
  return complete(schema, { matchCount, ...page.shown })
}

function prepareFind(
  deps: Deps,
  caller: Caller,
  { target, body, shape }: UnreadFind & { readonly shape: QueryShape },
): PreparedFind | undefined {
  const key = `${JSON.stringify([target.entity, target.version])}${shape.key}`
  return preparedOnce({ metadata: deps.metadata(), caller, key }, () => {
    const request = readFind(body, target, deps.limits)
    if (!request.query) return undefined
    const { query, literals } = parameterized(request.query)
    // Both walk the query in the same order; what the shape did not see cannot be bound.
    if (!isSameList(literals, shape.literals)) return undefined
    return preparedFrom(plannedFind(deps, caller, { ...request, query }), literals.length)
  })
}

function isSameList(a: readonly Json[], b: readonly Json[]): boolean {
  return a.length === b.length && a.every((each, i) => each === b[i])
}
