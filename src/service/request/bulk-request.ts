/** Parses a bulk into its entries. An invalid entry becomes the error of that entry, not of the bulk. */
import { ServiceError } from '../../base/errors.ts'
import { decoders, refuseWith } from '../../base/json/decode.ts'
import { type Json, type JsonObject, isObject, pointer } from '../../base/json/json.ts'
import { didYouMean } from '../../base/suggest.ts'
import { NOT_OF_BULKS } from './data-shapes.ts'
import { readExecution } from './execution.ts'
import { agreed } from './envelope.ts'
import type { Target } from '../service.ts'

export interface Bulk {
  /** In the order of their `seq`. */
  readonly entries: readonly BulkEntry[]
  readonly ordered: boolean
  readonly atomic: boolean
  /** Whether all writes only say what would happen. */
  readonly isDryRun: boolean
  /** For all entries together. */
  readonly maxTimeMs?: number
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

const BULK_OPERATIONS = [
  'find',
  'aggregate',
  'explain',
  'insert',
  'save',
  'update',
  'delete',
  'generate',
] as const
export type BulkOperation = (typeof BULK_OPERATIONS)[number]

const read = decoders(refuseWith('crud:InvalidRequest'))

const BULK_KEYS = new Set(['requests', 'ordered', 'atomic', 'execution', 'client', 'clientId'])
const ENTRY_KEYS = new Set(['seq', 'op', 'request'])

export function readBulk(body: Json | undefined, maxRequests: number): Bulk {
  if (!isObject(body)) {
    throw new ServiceError('crud:InvalidRequest', 'a bulk must be an object with "requests"')
  }
  refuseUnknown(body, BULK_KEYS, '')
  const requests = read.array(body['requests'], '/requests', '"requests"')
  if (requests.length > maxRequests) {
    const message = `a bulk may hold at most ${maxRequests} requests`
    throw new ServiceError('crud:LimitExceeded', message, { at: '/requests' })
  }
  const seqs = new Set<number>()
  const entries = requests.map((entry, i) => readEntry(entry, `/requests/${i}`, seqs))
  const execution = readExecution(body)
  refuseForEntries(body['execution'])
  return {
    entries: entries.sort((a, b) => a.seq - b.seq),
    ordered: read.flag(body, 'ordered', '') ?? true,
    atomic: read.flag(body, 'atomic', '') ?? execution.atomic,
    isDryRun: execution.isDryRun ?? false,
    ...(execution.maxTimeMs !== undefined && { maxTimeMs: execution.maxTimeMs }),
  }
}

/** What only an entry can mean would be ignored here. */
function refuseForEntries(execution: Json | undefined): void {
  const name = NOT_OF_BULKS.find((each) => isObject(execution) && (execution[each] ?? null) !== null)
  if (name === undefined) return
  const message = `"${name}" is for a single request: say it in the "execution" of each entry, not in that of the bulk`
  throw read.refuse(message, `/execution/${name}`)
}

function readEntry(entry: Json, at: string, seqs: Set<number>): BulkEntry {
  const seq = isObject(entry) ? entry['seq'] : undefined
  if (!isObject(entry) || typeof seq !== 'number' || !Number.isSafeInteger(seq)) {
    throw read.refuse('an entry needs an integer "seq"', `${at}/seq`)
  }
  if (seqs.has(seq)) throw read.refuse('"seq" must be unique in the bulk', `${at}/seq`)
  seqs.add(seq)
  return { seq, task: readTask(entry, at) }
}

function readTask(entry: JsonObject, at: string): BulkTask | ServiceError {
  try {
    refuseUnknown(entry, ENTRY_KEYS, at)
    const { op } = entry
    const operation = BULK_OPERATIONS.find((name) => typeof op === 'string' && op.toLowerCase() === name)
    if (!operation) throw read.refuse(`"op" must be one of ${BULK_OPERATIONS.join(', ')}`, `${at}/op`)
    const place = `${at}/request`
    const request = read.object(entry['request'], place, '"request"')
    const entity = agreed(request, ['entity', 'objectType'], place)
    if (entity === undefined) throw read.refuse('"request" must name its "entity"', `${place}/entity`)
    const version = agreed(request, ['entityVersion', 'version'], place)
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

function refuseUnknown(object: JsonObject, known: ReadonlySet<string>, at: string): void {
  const unknown = Object.keys(object).find((key) => !known.has(key))
  if (unknown === undefined) return
  const message = `"${unknown}" is not known here; known are ${[...known].join(', ')}`
  throw read.refuse(`${message}${didYouMean(unknown, [...known])}`, pointer(at, unknown))
}
