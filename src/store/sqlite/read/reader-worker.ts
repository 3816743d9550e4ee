/**
 * A thread that runs slow statements, one at a time. Rows are sent in batches on request, so that a result
 * never exceeds the memory that the other thread allows (backpressure).
 */
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { SqlValue, Statement } from '../../sql/fragment.ts'
import { lowerThreadPriority } from '../../../base/work/thread-priority.ts'
import { isTooBig } from '../file/failures.ts'
import { addFunctions } from '../file/functions.ts'
import { type SqliteMemory, memoryOfThread, memoryPragmas } from '../file/memory.ts'

export interface ReaderData {
  readonly file: string
  readonly memory: SqliteMemory
}

export type ReaderRequest =
  | {
      readonly kind: 'open'
      readonly text: string
      readonly values: readonly SqlValue[]
      /** Becomes 1 when the caller no longer waits. */
      readonly cancelled: Int32Array
      /** Whether only the first column, a key, is sent for each row; the last row is also sent whole. */
      readonly byKey: boolean
    }
  | { readonly kind: 'next'; readonly count: number; readonly maxBytes: number }
  | { readonly kind: 'close' }
  /** Changes the database in one transaction. */
  | { readonly kind: 'change'; readonly statements: readonly Statement[] }
  /** Moves committed pages from the log into the database file, as far as no reader needs them. */
  | { readonly kind: 'checkpoint' }

export type ReaderAnswer =
  | {
      readonly kind: 'rows'
      readonly rows: readonly unknown[]
      readonly isLast: boolean
      readonly lastRow?: readonly SqlValue[]
    }
  | { readonly kind: 'failed'; readonly error: unknown; readonly isTooBig: boolean }

type Row = readonly SqlValue[]

interface Running {
  readonly rows: Generator<SqlValue[], void>
  readonly cancelled: Int32Array
  readonly byKey: boolean
}

const { file, memory } = workerData as ReaderData
lowerThreadPriority(10)
let running: Running | undefined
let connection: DatabaseSync | undefined

function connect(): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly: true })
  database.exec(memoryPragmas(memoryOfThread(memory)))
  // Throwing is the only way to stop a statement that returns no rows.
  addFunctions(database, () => {
    if (running && Atomics.load(running.cancelled, 0) === 1) throw new Error('cancelled')
  })
  return database
}

parentPort!.on('message', (request: ReaderRequest) => {
  try {
    const answer = handle(request)
    if (answer) parentPort!.postMessage(answer)
  } catch (error) {
    close()
    // Structured cloning drops further properties of an error, such as its code.
    const failed: ReaderAnswer = { kind: 'failed', error, isTooBig: isTooBig(error) }
    parentPort!.postMessage(failed)
  }
})

function handle(request: ReaderRequest): ReaderAnswer | undefined {
  switch (request.kind) {
    case 'open':
      return open(request)
    case 'next':
      return next(request)
    case 'close':
      return close()
    case 'change':
      return change(request.statements)
    case 'checkpoint':
      return checkpoint()
  }
}

/** Sends no response: an error of the statement is reported with the next batch. */
function open({ text, values, cancelled, byKey }: ReaderRequest & { readonly kind: 'open' }): undefined {
  running = { rows: rowsOf(text, values), cancelled, byKey }
}

function* rowsOf(text: string, values: readonly SqlValue[]): Generator<SqlValue[], void> {
  connection ??= connect()
  const statement = connection.prepare(text)
  statement.setReturnArrays(true)
  // A key may be any 64-bit integer, and must be exact for the lookup.
  statement.setReadBigInts(true)
  yield* statement.iterate(...values) as unknown as Iterable<SqlValue[]>
}

function close(): undefined {
  const closed = running
  running = undefined
  closed?.rows.return()
}

function next({ count, maxBytes }: ReaderRequest & { readonly kind: 'next' }): ReaderAnswer | undefined {
  if (!running) return undefined
  const rows: Row[] = []
  let isLast = false
  let bytes = 0
  while (rows.length < count && bytes < maxBytes && !isLast) {
    const { value, done } = running.rows.next()
    if (done) isLast = true
    else {
      rows.push(withPlainNumbers(value))
      bytes += sizeOf(value)
    }
  }
  const { byKey } = running
  if (isLast) close()
  if (!byKey) return { kind: 'rows', rows, isLast }
  const last = rows.at(-1)
  return { kind: 'rows', rows: rows.map(([key]) => key), isLast, ...(last && { lastRow: last }) }
}

function withPlainNumbers(row: SqlValue[]): Row {
  for (const [i, value] of row.entries()) {
    if (typeof value === 'bigint' && BigInt.asIntN(53, value) === value) row[i] = Number(value)
  }
  return row
}

/** The approximate size in bytes: only texts can be large. */
function sizeOf(row: Row): number {
  let size = 0
  for (const column of row) if (typeof column === 'string') size += column.length
  return size
}

/** Another process may write for a moment; this thread may wait for it. */
const CHANGE_WAIT_MS = 5_000

function change(statements: readonly Statement[]): ReaderAnswer {
  const database = new DatabaseSync(file, { timeout: CHANGE_WAIT_MS })
  try {
    database.exec('pragma synchronous = full; pragma temp_store = memory')
    addFunctions(database, () => undefined)
    database.exec('begin immediate')
    for (const { text, values } of statements) database.prepare(text).run(...values)
    database.exec('commit')
    return { kind: 'rows', rows: [], isLast: true }
  } finally {
    // Rolls back what is not committed.
    database.close()
  }
}

/** Passive, so that it blocks nobody; on a connection that is closed at once, because it could write. */
function checkpoint(): ReaderAnswer {
  const database = new DatabaseSync(file)
  try {
    const row = database.prepare('pragma wal_checkpoint(passive)').get() as Readonly<Record<string, number>>
    return { kind: 'rows', rows: [[row['busy']!, row['log']!, row['checkpointed']!]], isLast: true }
  } finally {
    database.close()
  }
}
