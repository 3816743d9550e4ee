/** Resolves, authorizes and plans a find. */
import { type Authorized, authorizeFind } from '../../access/authorize.ts'
import type { Caller } from '../../access/caller.ts'
import type { AllowedFind } from '../../access/requests.ts'
import { resolveSort } from '../../lang/resolve/resolve.ts'
import { rootScope } from '../../lang/resolve/scope.ts'
import { type FindPlan, planFind } from '../../plan/read.ts'
import type { Deps } from '../deps.ts'
import type { FindRequest } from '../request/request.ts'
import { isInStatement } from './read-page.ts'
import { resolveReading } from './resolve-request.ts'

export interface PlannedFind {
  readonly allowed: Authorized<AllowedFind>
  readonly plan: FindPlan
  readonly maxTimeMs: number | undefined
}

export function plannedFind(deps: Deps, caller: Caller, request: FindRequest): PlannedFind {
  const allowed = allowedFind(deps, caller, request)
  return { allowed, plan: planFind(allowed, isInStatement(deps)), maxTimeMs: request.maxTimeMs }
}

/** The request resolved against the schema and rewritten to what the caller may see. */
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
