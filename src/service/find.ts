/** Find: the path every request takes, in ten lines. */
import { type Authorized, authorizeFind } from '../access/authorize.ts'
import type { AllowedFind } from '../access/requests.ts'
import type { Caller } from '../access/caller.ts'
import { resolveProjection, resolveQuery, resolveSort } from '../lang/resolve.ts'
import { rootScope } from '../lang/scope.ts'
import { planFind } from '../plan/read.ts'
import type { Schema } from '../schema/schema.ts'
import { type Deps, boundsOf, pageBounds } from './deps.ts'
import { createPage } from './page.ts'
import type { FindRequest } from './request.ts'
import { type DataResponse, complete } from './response.ts'

export async function find(deps: Deps, caller: Caller, request: FindRequest): Promise<DataResponse> {
  const schema = deps.schemaOf(request.entity, request.version)
  const allowed = allowedFind(request, schema, caller)
  const { read, ...remaining } = planFind(allowed)
  const page = createPage(allowed, remaining, pageBounds(deps))
  const { matchCount } = await deps.storeOf(schema).find(read, page.take, boundsOf(deps, request))
  return complete(schema, { matchCount, ...page.shown })
}

/** The request in terms of the schema, rewritten to what this caller may see; explain asks the same. */
export function allowedFind(request: FindRequest, schema: Schema, caller: Caller): Authorized<AllowedFind> {
  const scope = rootScope(schema)
  const { query, projection, sort, range, counted } = request
  return authorizeFind(
    {
      schema,
      ...(query && { query: resolveQuery(query, scope) }),
      projection: resolveProjection(projection, scope),
      sort: resolveSort(sort, scope),
      ...range,
      counted,
    },
    caller,
  )
}
