/** Notes requests that take long. A fast one costs two readings of the clock and a comparison. */
import { ServiceError } from '../../base/errors.ts'
import type { Json } from '../../base/json/json.ts'
import type { Deps } from '../deps.ts'
import type { DataResponse } from '../response.ts'
import { shapeOfRequest } from './request-shape.ts'
import type { SlowRequest } from './slow-request.ts'

export interface Timed {
  /** By the clock of `performance.now`. */
  readonly startedMs: number
  readonly operation: string
  readonly target: { readonly entity: string; readonly version?: string }
  /** The body as the operation reads it; called for slow requests only. */
  readonly body: () => Json
}

type TimingDeps = Pick<Deps, 'limits' | 'now' | 'onSlow' | 'indexesOf' | 'versionsOf'>

export function noteIfSlow(
  deps: TimingDeps,
  timed: Timed,
  response: Partial<DataResponse> | undefined,
): void {
  const ms = performance.now() - timed.startedMs
  if (ms < deps.limits.slowRequestMs) return
  // an entity that does not exist may have any name
  if (deps.versionsOf(timed.target.entity).length === 0) return
  deps.onSlow?.(slowRequest(deps, { ...timed, ms }, response))
}

function slowRequest(
  deps: TimingDeps,
  { operation, target, body, ms }: Timed & { readonly ms: number },
  response: Partial<DataResponse> = {},
): SlowRequest {
  const { entity } = target
  const named = response.entityVersion ?? target.version
  const version = deps.versionsOf(entity).find((each) => each === named)
  const errorCode = response.errors?.[0]?.errorCode
  // a refused body may have anything in the place of a name
  const isUnderstood = errorCode === undefined || errorCode === 'store-crud:Timeout'
  const { matchCount, modifiedCount, processed } = response
  return {
    at: new Date(deps.now().getTime() - ms).toISOString(),
    operation,
    entity,
    ...(version !== undefined && { version }),
    ms: Math.round(ms),
    ...(errorCode !== undefined && { errorCode }),
    ...(matchCount !== undefined && { matched: matchCount }),
    ...(modifiedCount !== undefined && { modified: modifiedCount }),
    ...(processed && { returned: processed.length }),
    ...(isUnderstood &&
      shapeOfRequest(safely(body), {
        operation,
        limits: deps.limits,
        indexes: () => deps.indexesOf(entity),
      })),
  }
}

function safely(body: () => Json): Json {
  try {
    return body()
  } catch (error) {
    if (error instanceof ServiceError) return {}
    throw error
  }
}
