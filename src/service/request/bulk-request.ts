/** The edge of a bulk: which entries it holds. An entry that makes no sense is that entry's error, not the bulk's. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject, pointer } from '../../base/json/json.ts'
import { agreed, readExecution } from './request.ts'
import type { Target } from '../service.ts'

export interface Bulk {
  /** In the order of their `seq`. */
  readonly entries: readonly BulkEntry[]
  readonly ordered: boolean
  readonly atomic: boolean
}

export interface BulkEntry {
  readonly seq: number
  readonly task: BulkTask | ServiceError
}

interface BulkTask {
  readonly operation: BulkOperation
  readonly target: Target
  readonly request: JsonObject
}

const BULK_OPERATIONS = ['find', 'explain', 'insert', 'save', 'update', 'delete', 'generate'] as const
export type BulkOperation = (typeof BULK_OPERATIONS)[number]

const BULK_KEYS = new Set(['requests', 'ordered', 'atomic', 'execution', 'client', 'clientId'])
const ENTRY_KEYS = new Set(['seq', 'op', 'request'])

export function readBulk(body: Json | undefined, maxRequests: number): Bulk {
  if (!isObject(body)) throw invalid('a bulk must be an object with "requests"')
  refuseUnknown(body, BULK_KEYS, '')
  const { requests } = body
  if (!isArray(requests)) throw invalid('"requests" must be an array', '/requests')
  if (requests.length > maxRequests) {
    const message = `a bulk may hold at most ${maxRequests} requests`
    throw new ServiceError('crud:LimitExceeded', message, { at: '/requests' })
  }
  const seqs = new Set<number>()
  const entries = requests.map((entry, i) => readEntry(entry, `/requests/${i}`, seqs))
  return {
    entries: entries.sort((a, b) => a.seq - b.seq),
    ordered: readClaim(body, 'ordered') ?? true,
    atomic: readClaim(body, 'atomic') ?? readExecution(body).atomic,
  }
}

function readEntry(entry: Json, at: string, seqs: Set<number>): BulkEntry {
  const seq = isObject(entry) ? entry['seq'] : undefined
  if (!isObject(entry) || typeof seq !== 'number' || !Number.isSafeInteger(seq)) {
    throw invalid('an entry needs an integer "seq"', `${at}/seq`)
  }
  if (seqs.has(seq)) throw invalid('"seq" must be unique in the bulk', `${at}/seq`)
  seqs.add(seq)
  return { seq, task: readTask(entry, at) }
}

function readTask(entry: JsonObject, at: string): BulkTask | ServiceError {
  try {
    refuseUnknown(entry, ENTRY_KEYS, at)
    const { op, request } = entry
    const operation = BULK_OPERATIONS.find((name) => typeof op === 'string' && op.toLowerCase() === name)
    if (!operation) throw invalid(`"op" must be one of ${BULK_OPERATIONS.join(', ')}`, `${at}/op`)
    if (!isObject(request)) throw invalid('"request" must be an object', `${at}/request`)
    const entity = agreed(request, ['entity', 'objectType'])
    if (entity === undefined) throw invalid('"request" must name its "entity"', `${at}/request/entity`)
    const version = agreed(request, ['entityVersion', 'version'])
    return {
      operation,
      request,
      target: { entity, ...(version !== undefined && { version }) },
    }
  } catch (error) {
    if (error instanceof ServiceError) return error.within('bulk')
    throw error
  }
}

function readClaim(body: JsonObject, key: string): boolean | undefined {
  const value = body[key]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'boolean') return value
  throw invalid(`"${key}" must be true or false`, pointer('', key))
}

function refuseUnknown(object: JsonObject, known: ReadonlySet<string>, at: string): void {
  const unknown = Object.keys(object).find((key) => !known.has(key))
  if (unknown !== undefined) throw invalid(`"${unknown}" is not known here`, pointer(at, unknown))
}

function invalid(message: string, at?: string): ServiceError {
  return new ServiceError('crud:InvalidRequest', message, at === undefined ? {} : { at })
}
