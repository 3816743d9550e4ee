/** Reads `execution`, the options for running a request, for an entry of a bulk, or for a bulk as a whole. */
import { ServiceError, invalidRequest } from '../../base/errors.ts'
import { memberChecker } from '../../base/json/check-members.ts'
import { asBoolean } from '../../base/json/decode.ts'
import { type Json, type JsonObject, isObject, pointer } from '../../base/json/json.ts'
import { ExecutionShape } from './data-shapes.ts'

export interface Execution {
  readonly atomic: boolean
  readonly counted: boolean
  /** Whether failed documents are reported with their position in the request, in place of their content. */
  readonly positions: boolean
  readonly maxTimeMs?: number
  /** Whether a write only says what would happen. */
  readonly isDryRun?: boolean
}

const KNOWN = Object.keys(ExecutionShape.properties).join(', ')

const checkMembers = memberChecker(ExecutionShape.properties, {
  refuse: (message, at) => invalidRequest(message, `/execution${at}`),
  unknown: (name) => `"execution" does not know "${name}"; known are ${KNOWN}`,
  expected: {
    atomic: 'must be true or false',
    positions: 'must be true or false',
    maxTimeMs: 'must be an integer, such as 5000',
    maxQueryTimeMS: 'must be an integer, such as 5000',
    count: 'must be "exact" or "none"',
    dryRun: 'must be true or false',
  },
  otherwise: 'has the wrong type',
})

export function readExecution({ execution }: JsonObject): Execution {
  if (execution === undefined || execution === null) return { atomic: false, counted: true, positions: false }
  if (!isObject(execution)) {
    throw invalidRequest(`"execution" must be an object; it may hold ${KNOWN}`, '/execution')
  }
  checkMembers(execution)
  return {
    atomic: asBoolean(execution['atomic']) === true,
    counted: execution['count'] !== 'none',
    positions: asBoolean(execution['positions']) === true,
    ...readMaxTime(execution),
    ...(asBoolean(execution['dryRun']) === true && { isDryRun: true }),
  }
}

/** Whether a write with this `execution`, whatever else it holds, is a dry run. */
export function asksForDryRun(execution: Json | undefined): boolean {
  return isObject(execution) && asBoolean(execution['dryRun']) === true
}

/** The time limit of a request with this `execution`; undefined also where it is malformed, which the operation reports. */
export function timeLimitIn(execution: Json | undefined): number | undefined {
  if (!isObject(execution)) return undefined
  try {
    return readMaxTime(execution).maxTimeMs
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

/** `maxQueryTimeMS` is the name that clients of Lightblue send. */
function readMaxTime({ maxTimeMs, maxQueryTimeMS }: JsonObject): { maxTimeMs?: number } {
  const own = readMilliseconds(maxTimeMs, 'maxTimeMs')
  const other = readMilliseconds(maxQueryTimeMS, 'maxQueryTimeMS')
  if (own !== undefined && other !== undefined && own !== other) {
    throw invalidRequest(
      '"maxTimeMs" and "maxQueryTimeMS" must agree; send one of them',
      '/execution/maxQueryTimeMS',
    )
  }
  const chosen = own ?? other
  return chosen === undefined ? {} : { maxTimeMs: chosen }
}

/** The shape has admitted only integers and texts; clients that know `execution` as texts send a number as one. */
function readMilliseconds(value: Json | undefined, name: string): number | undefined {
  if (value === undefined || value === null) return undefined
  const ms = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  if (typeof ms === 'number' && ms > 0) return ms
  throw invalidRequest(
    `"${name}" must be an integer greater than 0, such as 5000`,
    pointer('/execution', name),
  )
}
