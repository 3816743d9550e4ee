/** Find: the path every request takes, in ten lines. */
import { type Authorized, authorizeFind } from '../access/authorize.ts'
import type { AllowedFind } from '../access/requests.ts'
import type { Caller } from '../access/caller.ts'
import { resolveSort } from '../lang/resolve.ts'
import { rootScope } from '../lang/scope.ts'
import { planFind } from '../plan/read.ts'
import { type Deps, boundsOf, pageBounds } from './deps.ts'
import { resolveReading } from './following.ts'
import { createPage } from './page.ts'
import { goesAlong, readPage } from './read-page.ts'
import type { FindRequest } from './request.ts'
import { type DataResponse, complete } from './response.ts'

export async function find(deps: Deps, caller: Caller, request: FindRequest): Promise<DataResponse> {
  const allowed = allowedFind(deps, caller, request)
  const plan = planFind(allowed, goesAlong(deps))
  const page = createPage(allowed, plan, pageBounds(deps))
  const { matchCount } = await readPage(
    plan,
    { deps, schema: allowed.schema, bounds: boundsOf(deps, request), asOf: request.asOf },
    page.take,
  )
  return complete(allowed.schema, { matchCount, ...page.shown })
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
