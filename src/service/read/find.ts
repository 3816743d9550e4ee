/** Find: the path every request takes, in ten lines. */
import { type Authorized, authorizeFind } from '../../access/authorize.ts'
import type { AllowedFind } from '../../access/requests.ts'
import type { Caller } from '../../access/caller.ts'
import type { Json } from '../../base/json/json.ts'
import { resolveSort } from '../../lang/resolve/resolve.ts'
import { rootScope } from '../../lang/resolve/scope.ts'
import { planFind } from '../../plan/read.ts'
import { type Deps, boundsOf, pageBounds, workOf } from '../deps.ts'
import { type PreparedFind, preparedOnce } from './prepared/prepared-finds.ts'
import { resolveReading } from './resolve-request.ts'
import { createPage } from './page.ts'
import { isInStatement, readPage } from './read-page.ts'
import { type FindRequest, readFind } from '../request/request.ts'
import { type DataResponse, complete } from '../response.ts'
import type { RequestContext, Target } from '../service.ts'

export async function find(deps: Deps, caller: Caller, request: FindRequest): Promise<DataResponse> {
  return await answer(deps, prepareFind(deps, caller, request), request)
}

/** The same for a request that was not read yet: what is like others before is not worked out again. */
export async function findAsked(
  deps: Deps,
  caller: Caller,
  { target, body }: { readonly target: Target; readonly body: Json },
): Promise<DataResponse> {
  const prepare = (asked: Json): PreparedFind =>
    prepareFind(deps, caller, readFind(asked, target, deps.limits))
  return await answer(deps, preparedOnce({ target, body }, { deps, caller, prepare }), target)
}

function prepareFind(deps: Deps, caller: Caller, request: FindRequest): PreparedFind {
  const allowed = allowedFind(deps, caller, request)
  return { allowed, plan: planFind(allowed, isInStatement(deps)), maxTimeMs: request.maxTimeMs }
}

async function answer(
  deps: Deps,
  { allowed, plan, maxTimeMs }: PreparedFind,
  target: RequestContext,
): Promise<DataResponse> {
  const { schema, asOf } = allowed
  const work = workOf(deps, { work: target.work, maxTimeMs })
  const page = createPage(allowed, plan, pageBounds(deps, work))
  const bounds = boundsOf(work, target)
  const { matchCount } = await readPage(plan, { deps, schema, bounds, asOf }, page.take)
  return complete(schema, { matchCount, ...page.shown })
}

/** The request in terms of the schema, rewritten to what this caller may see; explain asks the same. */
export function allowedFind(
  deps: Pick<Deps, 'schemaOf' | 'limits'>,
  caller: Caller,
  request: FindRequest,
): Authorized<AllowedFind> {
  const schema = deps.schemaOf(request.entity, request.version)
  const { sort, range, counted, asOf } = request
  const read = resolveReading(request, schema, deps)
  return authorizeFind(
    {
      schema,
      ...read,
      sort: resolveSort(sort, rootScope(schema)),
      ...range,
      counted,
      ...(asOf !== undefined && { asOf }),
    },
    caller,
  )
}
