/** Find. Other operations follow the same steps. */
import type { Caller } from '../../access/caller.ts'
import type { Json } from '../../base/json/json.ts'
import { type Deps, boundsOf, pageBounds, workOf } from '../deps.ts'
import { readFind, withQuery } from '../request/request.ts'
import { type DataResponse, complete } from '../response.ts'
import type { Target } from '../service.ts'
import { findByCursor } from './cursor/find-by-cursor.ts'
import { createPage } from './page.ts'
import { planFindRequest } from './plan-find.ts'
import { bindFind } from './prepared/bind-find.ts'
import { prepareFind } from './prepared/prepare-find.ts'
import { shapeOf } from './prepared/query-shape.ts'
import { readPage } from './read-page.ts'

interface FindInput {
  readonly target: Target
  readonly body: Json
}

export async function find(deps: Deps, caller: Caller, { target, body }: FindInput): Promise<DataResponse> {
  // A find of a known shape binds its literals; any other is parsed, resolved, authorized and planned.
  const asQuery = withQuery(body, deps.limits)
  const shape = shapeOf(asQuery, deps.limits)
  const prepared = shape && prepareFind(deps, caller, { target, body: asQuery, shape })
  const bound = prepared && bindFind(prepared, shape)
  const work = workOf(deps, target)
  const planned = bound ?? planFindRequest(deps, caller, readFind(body, { ...target, work }, deps))
  const { allowed, plan, maxTimeMs } = planned
  const { schema, asOf } = allowed
  work.limitTimeTo(maxTimeMs ?? Infinity)
  const page = createPage(allowed, plan, pageBounds(deps, work), planned.renderer)
  const reading = { deps, schema, bounds: boundsOf(work, target), asOf }
  if (planned.page) return await findByCursor({ ...planned, page: planned.page }, { page, reading, work })
  // Each document is rendered when it is read, with only the fields that the caller may see.
  const { matchCount } = await readPage(plan, reading, page.take)
  return complete(schema, { matchCount, ...page.shown })
}
