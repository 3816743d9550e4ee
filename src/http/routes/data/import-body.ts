/** Imports the documents of a body, batch by batch, and reports each batch and each record that failed. */
import { createHash } from 'node:crypto'
import { ServiceError, type ErrorObject } from '../../../base/errors.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import { TooMuchForThisThread } from '../../../base/work/work.ts'
import { yieldEvery } from '../../../base/work/yield-every.ts'
import { MissingRecordsError, batchesOf, readRecords, readSmallRecords } from '../../../records/read.ts'
import {
  type Chunks,
  type GoodRecord,
  RecordsError,
  type SourceRecord,
  type UnparsedRecord,
} from '../../../records/record.ts'
import { type Idempotency, partOf } from '../../../service/idempotency.ts'
import { type ImportOutcome, type RecordWrite, bodyOf, operationOf } from '../import-record.ts'
import { type Call, targetOf } from '../route.ts'

export interface ImportOptions extends RecordWrite {
  /** Records to leave out at the beginning. */
  readonly skip: number
  readonly delimiter?: string
}

/** The main thread reads the records, and a few of them are in memory, so they are smaller than bodies may be elsewhere. */
const MAX_RECORD_BYTES = 1024 * 1024
/** The main thread parses records up to this size, which takes a few milliseconds. */
const MAX_INLINE_BYTES = 128 * 1024
/** A batch of this size is checked and stored within a few milliseconds. */
const BATCH = { count: 500, bytes: 256 * 1024 }

interface Totals {
  records: number
  modifiedCount: number
  failed: number
}

type ImportRecord = SourceRecord | UnparsedRecord
type Importable = GoodRecord | UnparsedRecord

/** Lines of the response. A failure of the request as a whole is in the last one. */
export async function* importBody(call: Call, options: ImportOptions): AsyncGenerator<string> {
  const { skip, stopsOnError } = options
  const totals: Totals = { records: skip, modifiedCount: 0, failed: 0 }
  try {
    for await (const batch of batchesOf(recordsIn(call, options), { ...BATCH, skip, isAlone: isUnparsed })) {
      const bad = batch.records.filter((each) => 'problem' in each)
      const good = batch.records.filter((each): each is Importable => !('problem' in each))
      if (stopsOnError && bad.length > 0) {
        for (const each of bad) yield failureLine(each.line, [unreadable(each.problem)])
        totals.failed += bad.length
        yield lastLine(totals, [])
        return
      }
      const outcome = await store(call, options, { first: batch.first, good })
      if (outcome.errors && outcome.errors.length > 0) {
        yield lastLine(totals, outcome.errors)
        return
      }
      const failures = failuresOf(batch.records, good, outcome)
      for (const [line, errors] of failures) yield failureLine(line, errors)
      totals.failed += failures.length
      if (stopsOnError && failures.length > 0) {
        yield lastLine(totals, [])
        return
      }
      totals.records = batch.first + batch.records.length
      totals.modifiedCount += outcome.modifiedCount
      yield JSON.stringify({ records: totals.records, modifiedCount: totals.modifiedCount })
    }
    yield lastLine(totals, [])
  } catch (error) {
    if (error instanceof MissingRecordsError) totals.records = error.count
    const problem =
      error instanceof RecordsError || error instanceof MissingRecordsError ? unreadableFile(error) : error
    if (!(problem instanceof ServiceError)) throw error
    yield lastLine(totals, [problem.within(contextOf(call)).toObject()])
  }
}

function recordsIn(call: Call, { format, delimiter }: ImportOptions): AsyncIterable<ImportRecord> {
  const { chunks, maxDepth } = call.upload!
  const limits = { maxBytes: MAX_RECORD_BYTES, maxDepth }
  const rest = yieldEvery(SLICE_MS)
  const pieces = paced(piecesOf(chunks), rest)
  const csv = delimiter === undefined ? {} : { delimiter }
  const records = call.offloadRecord
    ? readSmallRecords(format, pieces, { ...limits, parsedBytes: MAX_INLINE_BYTES }, csv)
    : readRecords(format, pieces, limits, csv)
  return paced<ImportRecord>(records, rest)
}

function isUnparsed(record: ImportRecord): record is UnparsedRecord {
  return 'text' in record
}

/** Records that fail or are left out cause no wait of their own: without this, others would wait for all of them. */
async function* paced<T>(source: AsyncIterable<T>, rest: () => Promise<void> | undefined): AsyncGenerator<T> {
  for await (const each of source) {
    const pause = rest()
    if (pause) await pause
    yield each
  }
}

const SLICE_MS = 10

/** What is read of a row at a time: a chunk may contain tens of thousands of cells. */
async function* piecesOf(chunks: Chunks): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES)
  }
}

const PIECE_BYTES = 8 * 1024

/** Runs as a request of its own: on this thread if it is small, otherwise in a worker thread. */
async function store(
  call: Call,
  write: RecordWrite,
  { first, good }: { readonly first: number; readonly good: readonly Importable[] },
): Promise<ImportOutcome> {
  const { app, caller, offload, offloadRecord, upload } = call
  const { idempotency, ...whole } = targetOf(call)
  const keyFor = (content: () => string | Uint8Array): { readonly idempotency?: Idempotency } =>
    idempotency ? { idempotency: batchKey(idempotency, first, content()) } : {}
  const large = good.find(isUnparsed)
  if (large) {
    const target = { ...whole, ...keyFor(() => large.text), work: upload!.startWork() }
    return await offloadRecord!(target, large.text, write)
  }
  const operation = operationOf(write)
  const documents = good.flatMap((record) => ('document' in record ? [record.document] : []))
  const body = bodyOf(documents, write)
  const own = keyFor(() => JSON.stringify(body))
  const target = { ...whole, ...own, work: upload!.startWork() }
  try {
    if (!own.idempotency) return await app.service.data[operation](caller, target, body)
    const { text } = await app.service.once.data(caller, { operation, target, body }, own.idempotency)
    return parseTrusted(text) as unknown as ImportOutcome
  } catch (error) {
    if (!(error instanceof TooMuchForThisThread) || !offload) throw error
    const { text } = await offload(operation, { ...target, work: upload!.startWork() }, body)
    return parseTrusted(text) as unknown as ImportOutcome
  }
}

/**
 * Each batch is a write of its own, with a part of the key. A repetition gets the answers of the batches that were
 * stored, and goes on after them. Its content is known only now, so it is digested here.
 */
function batchKey(idempotency: Idempotency, first: number, content: string | Uint8Array): Idempotency {
  const { key, fingerprint } = partOf(idempotency, first)
  const digest = createHash('sha256').update(fingerprint).update(content).digest('base64')
  return { key, fingerprint: digest }
}

/** By line, in the order of the source. In an atomic batch, only the cause is reported, not what it took along. */
function failuresOf(
  records: readonly ImportRecord[],
  good: readonly ImportRecord[],
  { dataErrors = [], problem }: ImportOutcome,
): readonly (readonly [number, readonly ErrorObject[]])[] {
  const stored = new Map<ImportRecord, readonly ErrorObject[]>(
    dataErrors.map(({ position, errors }) => [good[position!]!, errors]),
  )
  const errorsOf = (record: ImportRecord): readonly ErrorObject[] => {
    if ('problem' in record) return [unreadable(record.problem)]
    if (problem !== undefined) return [unreadable(problem)]
    return stored.get(record)?.filter(({ errorCode }) => errorCode !== 'crud:Rolledback') ?? []
  }
  return records
    .map((record) => [record.line, errorsOf(record)] as const)
    .filter(([, errors]) => errors.length > 0)
}

function failureLine(line: number, errors: readonly ErrorObject[]): string {
  return JSON.stringify({ line, errors })
}

function lastLine({ records, modifiedCount, failed }: Totals, errors: readonly ErrorObject[]): string {
  const status = errors.length > 0 ? 'ERROR' : failed > 0 ? 'PARTIAL' : 'COMPLETE'
  return JSON.stringify({
    last: true,
    status,
    records,
    modifiedCount,
    failed,
    ...(errors.length > 0 && { errors }),
  })
}

function unreadable(problem: string): ErrorObject {
  return new ServiceError('crud:InvalidRequest', problem, { context: 'import' }).toObject()
}

function unreadableFile({ message }: Error): ServiceError {
  return new ServiceError('crud:InvalidRequest', message)
}

function contextOf({ params: { entity, version } }: Call): string {
  return version === undefined ? `import(${entity})` : `import(${entity}:${version})`
}
