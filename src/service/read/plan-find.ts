/** Resolves, authorizes and plans a find. */
import { type Authorized, authorizeFind } from '../../access/authorize.ts'
import type { Caller } from '../../access/caller.ts'
import type { AllowedFind } from '../../access/requests.ts'
import { ServiceError } from '../../base/errors.ts'
import { type Query, nodesOf } from '../../lang/query.ts'
import { relatedIn } from '../../lang/resolve/query-walk.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import type { SortKey } from '../../lang/sort.ts'
import { type FindPlan, planFind } from '../../plan/read.ts'
import type { Deps } from '../deps.ts'
import type { PageRequest } from '../request/page-request.ts'
import type { FindRequest } from '../request/request.ts'
import type { DocumentRenderer } from './page.ts'
import { isInStatement } from './read-page.ts'
import { resolveReading } from './resolve-request.ts'

export interface PlannedFind {
  readonly allowed: Authorized<AllowedFind>
  readonly plan: FindPlan
  readonly maxTimeMs: number | undefined
  /** Present if documents are asked for by cursor. */
  readonly page?: PageRequest
  /** Present if all pages of a prepared find share it. */
  readonly renderer?: DocumentRenderer | undefined
}

export function planFindRequest(deps: Deps, caller: Caller, request: FindRequest): PlannedFind {
  const allowed = resolveAndAuthorizeFind(deps, caller, request)
  const { maxTimeMs, page } = request
  return { allowed, plan: planFind(allowed, isInStatement(deps)), maxTimeMs, ...(page && { page }) }
}

/** Past documents have no index for text search, so they are searched one by one; those of references are not. */
function refusePastSearch(query: Query<FieldRef>, sort: readonly SortKey<FieldRef>[]): void {
  if (sort.some(({ field }) => field.score)) {
    const message = 'past documents have no order by $score; leave out asOf, or sort by a field'
    throw new ServiceError('query-api:InvalidSort', message, { at: '/sort' })
  }
  for (const { join, query: inner } of relatedIn(query)) {
    const search = [join, inner].flatMap((each) => [...nodesOf(each)]).find(({ kind }) => kind === 'text')
    if (search?.kind !== 'text') continue
    const message = 'a text search through a reference reads current documents; leave out asOf, or the search'
    throw new ServiceError('query-api:InvalidQuery', message, { at: search.at })
  }
}

/** The request resolved against the schema and rewritten to what the caller may see. */
export function resolveAndAuthorizeFind(
  deps: Pick<Deps, 'schemaOf' | 'limits'>,
  caller: Caller,
  request: FindRequest,
): Authorized<AllowedFind> {
  const schema = deps.schemaOf(request.entity, request.version)
  const { range, counted, asOf } = request
  const read = resolveReading(request, schema, deps)
  if (asOf !== undefined && read.query) refusePastSearch(read.query, read.sort)
  return authorizeFind(
    {
      schema,
      ...read,
      ...range,
      counted,
      ...(asOf !== undefined && { asOf }),
    },
    caller,
  )
}
