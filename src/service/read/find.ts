/** Find, the path of every request: prepare, bind, read, render. */
import type { Caller } from '../../access/caller.ts'
import type { Json } from '../../base/json/json.ts'
import { type Deps, boundsOf, pageBounds, workOf } from '../deps.ts'
import { readFind } from '../request/request.ts'
import { type DataResponse, complete } from '../response.ts'
import type { Target } from '../service.ts'
import { createPage } from './page.ts'
import { plannedFind } from './plan-find.ts'
import { bindFind } from './prepared/bind-find.ts'
import { prepareFind } from './prepared/prepare-find.ts'
import { shapeOf } from './prepared/query-shape.ts'
import { readPage } from './read-page.ts'

interface UnreadFind {
  readonly target: Target
  readonly body: Json
}

export async function find(deps: Deps, caller: Caller, { target, body }: UnreadFind): Promise<DataResponse> {
  const shape = shapeOf(body, deps.limits)
  const prepared = shape && prepareFind(deps, caller, { target, body, shape })
  const bound = prepared && bindFind(prepared, shape.literals)
  const { allowed, plan, maxTimeMs } = bound ?? plannedFind(deps, caller, readFind(body, target, deps.limits))
  const { schema, asOf } = allowed
  const work = workOf(deps, { work: target.work, maxTimeMs })
  const page = createPage(allowed, plan, pageBounds(deps, work))
  const bounds = boundsOf(work, target)
  const { matchCount } = await readPage(plan, { deps, schema, bounds, asOf }, page.take)
  return complete(schema, { matchCount, ...page.shown })
}
