/** Bulk: many requests in one, each answered as if it had been sent alone. */
import type { Caller } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject, pointer } from '../base/json.ts'
import { type DataResponse, type JsonText, failed, printResponse } from './response.ts'
import type { Target } from './service.ts'
import { agreed } from './request.ts'

/** What a bulk may hold; `generate` names its field and count in its request. */
export interface BulkOperations {
  find(caller: Caller, target: Target, body: Json): Promise<DataResponse>
  explain(caller: Caller, target: Target, body: Json): Promise<DataResponse>
  insert(caller: Caller, target: Target, body: Json): Promise<DataResponse>
  save(caller: Caller, target: Target, body: Json): Promise<DataResponse>
  update(caller: Caller, target: Target, body: Json): Promise<DataResponse>
  delete(caller: Caller, target: Target, body: Json): Promise<DataResponse>
  generate(caller: Caller, target: Target, body: Json): Promise<DataResponse>
}

const READS: ReadonlySet<string> = new Set(['find', 'explain', 'generate'])

type OperationName = keyof BulkOperations

interface Entry {
  readonly seq: number
  readonly isWrite: boolean
  readonly run: () => Promise<DataResponse>
}

export async function bulk(
  operations: BulkOperations,
  caller: Caller,
  { body, maxRequests }: { readonly body: Json | undefined; readonly maxRequests: number },
): Promise<JsonText> {
  const { requests, ordered } = readBulk(body, maxRequests)
  const entries = requests.map((entry) => readEntry(entry, operations, caller)).sort((a, b) => a.seq - b.seq)
  const responses = ordered
    ? await runInOrder(entries)
    : await Promise.all(entries.map((entry) => entry.run()))
  const texts = responses.map(
    (response, i) => `{"seq":${entries[i]!.seq},"response":${printResponse(response)}}`,
  )
  return `{"responses":[${texts.join(',')}]}`
}

/** Writes run one after the other, the reads between two writes side by side. */
async function runInOrder(entries: readonly Entry[]): Promise<readonly DataResponse[]> {
  const responses: DataResponse[] = []
  let reads: Promise<DataResponse>[] = []
  for (const entry of entries) {
    if (!entry.isWrite) reads.push(entry.run())
    else {
      responses.push(...(await Promise.all(reads)), await entry.run())
      reads = []
    }
  }
  return [...responses, ...(await Promise.all(reads))]
}

const BULK_KEYS = new Set(['requests', 'ordered', 'atomic', 'execution', 'client', 'clientId'])

interface Bulk {
  readonly requests: readonly (JsonObject & { readonly seq: number })[]
  readonly ordered: boolean
}

function readBulk(body: Json | undefined, maxRequests: number): Bulk {
  if (!isObject(body)) throw invalid('a bulk must be an object with "requests"')
  const unknown = Object.keys(body).find((key) => !BULK_KEYS.has(key))
  if (unknown !== undefined) throw invalid(`a bulk does not know the key "${unknown}"`, pointer('', unknown))
  const { requests } = body
  if (!isArray(requests)) throw invalid('"requests" must be an array', '/requests')
  if (requests.length > maxRequests) {
    throw new ServiceError('crud:LimitExceeded', `a bulk may hold at most ${maxRequests} requests`, {
      at: '/requests',
    })
  }
  if (readClaim(body, 'atomic') === true) {
    throw invalid('an atomic bulk is not available in this release', '/atomic')
  }
  const seqs = new Set<number>()
  return {
    requests: requests.map((entry, i) => readSeq(entry, i, seqs)),
    ordered: readClaim(body, 'ordered') ?? true,
  }
}

function readClaim(body: JsonObject, key: string): boolean | undefined {
  const value = body[key]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'boolean') return value
  throw invalid(`"${key}" must be true or false`, pointer('', key))
}

function readSeq(entry: Json, position: number, seqs: Set<number>): JsonObject & { readonly seq: number } {
  const at = `/requests/${position}`
  const seq = isObject(entry) ? entry['seq'] : undefined
  if (!isObject(entry) || !Number.isSafeInteger(seq))
    throw invalid('an entry needs an integer "seq"', `${at}/seq`)
  if (seqs.has(seq as number)) throw invalid('"seq" must be unique in the bulk', `${at}/seq`)
  seqs.add(seq as number)
  return { ...entry, seq: seq as number }
}

/** An entry that makes no sense is that entry's error: it fails when its turn comes. */
function readEntry(
  entry: JsonObject & { readonly seq: number },
  operations: BulkOperations,
  caller: Caller,
): Entry {
  const { seq } = entry
  try {
    const { name, target, request } = readOperation(entry, operations)
    return { seq, isWrite: !READS.has(name), run: () => operations[name](caller, target, request) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { seq, isWrite: false, run: async () => failed(error.within('bulk')) }
  }
}

function readOperation(entry: JsonObject, operations: BulkOperations) {
  const unknown = Object.keys(entry).find((key) => !['seq', 'op', 'request'].includes(key))
  if (unknown !== undefined)
    throw invalid(`an entry does not know the key "${unknown}"`, pointer('', unknown))
  const { op, request } = entry
  const name = typeof op === 'string' ? op.toLowerCase() : ''
  if (!isOperation(name, operations)) {
    throw invalid(`"op" must be one of ${Object.keys(operations).join(', ')}`, '/op')
  }
  if (!isObject(request)) throw invalid('"request" must be an object', '/request')
  const entity = agreed(request, ['entity', 'objectType'])
  if (entity === undefined) throw invalid('"request" must name its "entity"', '/request/entity')
  const version = agreed(request, ['entityVersion', 'version'])
  return { name, request, target: { entity, ...(version !== undefined && { version }) } }
}

function isOperation(name: string, operations: BulkOperations): name is OperationName {
  return Object.hasOwn(operations, name)
}

function invalid(message: string, at?: string): ServiceError {
  return new ServiceError('crud:InvalidRequest', message, at === undefined ? {} : { at })
}
