/** Generate: values from the generator of a field, without storing anything. */
import { authorizeGenerate } from '../../access/authorize.ts'
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import { type Json, isObject } from '../../base/json/json.ts'
import { during, spend } from '../../base/work/work.ts'
import { resolveFieldAs, rootScope } from '../../lang/resolve/scope.ts'
import { type Deps, boundsOf, workOf } from '../deps.ts'
import { readEnvelope } from '../request/envelope.ts'
import { type DataResponse, complete } from '../response.ts'
import type { Target } from '../service.ts'
import { generateValues } from './generated-values.ts'

interface GenerateRequest extends Target {
  readonly field: string
  readonly count: number
  readonly maxTimeMs?: number
}

const MAX_GENERATED = 10_000

export async function generate(deps: Deps, caller: Caller, request: GenerateRequest): Promise<DataResponse> {
  const schema = deps.schemaOf(request.entity, request.version)
  const { field } = authorizeGenerate(schema, caller, () =>
    resolveFieldAs('crud:InvalidRequest', { path: request.field, at: '/field' }, rootScope(schema)),
  )
  if (field.kind !== 'simple') {
    throw new ServiceError(
      'crud:InvalidRequest',
      `"${request.field}" is no simple field, so it has no generator`,
    )
  }
  if (request.count < 1 || request.count > MAX_GENERATED) {
    throw new ServiceError('crud:InvalidRequest', `"n" must be between 1 and ${MAX_GENERATED}`)
  }
  const work = workOf(deps, request)
  // Charged before values are drawn, so that a sequence does not lose them to a thread that gives up.
  during(work, () => spend(request.count * STEPS_PER_VALUE))
  const values = await generateValues({ deps, caller }, schema, {
    field,
    count: request.count,
    bounds: boundsOf(work, request),
  })
  const processed = values.map((value) => JSON.stringify(value))
  work.reserveResponse(
    processed.reduce((sum, text) => sum + text.length + 1, 0),
    tooLarge,
  )
  return complete(schema, { processed })
}

/** To draw a value, to print it and to send it. */
const STEPS_PER_VALUE = 25

function tooLarge(maxBytes: number): ServiceError {
  const message = `the result is larger than ${maxBytes} bytes; ask for fewer values`
  return new ServiceError('crud:ResultSizeTooLarge', message)
}

/**
 * `{entity, entityVersion?, field, n?}`, the form of generate inside a bulk; keys of other operations are
 * tolerated.
 */
export function readGenerate(body: Json, target: Target): GenerateRequest {
  const { field, n, ...envelope } = isObject(body) ? body : {}
  const { maxTimeMs } = readEnvelope(envelope, target, 'generate')
  if (typeof field !== 'string') {
    throw new ServiceError('crud:InvalidRequest', '"field" must be a string', { at: '/field' })
  }
  const isCount = n === undefined || n === null || typeof n === 'number'
  if (!isCount)
    throw new ServiceError('crud:InvalidRequest', '"n" must be an integer, such as 10', { at: '/n' })
  const count = readCount(n === undefined || n === null ? undefined : String(n))
  return { ...target, field, count, ...(maxTimeMs !== undefined && { maxTimeMs }) }
}

/** `n` of a query string; absent means one. */
export function readCount(n: string | undefined): number {
  if (n === undefined) return 1
  if (/^\d{1,9}$/.test(n)) return Number(n)
  throw new ServiceError('crud:InvalidRequest', `"n" must be an integer between 1 and ${MAX_GENERATED}`)
}
