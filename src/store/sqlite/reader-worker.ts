/**
 * A thread that answers slow questions. Cursors give one batch at a time, so many can be open at once, and none runs
 * ahead of whoever reads it. Each has a connection to itself: on one that somebody still reads from, the next would see
 * the documents as they were when the first began.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { SqlValue } from '../sql/fragment.ts'
import { isTooBig } from './failures.ts'
import { addFunctions } from './functions.ts'

export type ReaderRequest =
  | {
      readonly kind: 'open'
      readonly cursor: number
      readonly text: string
      readonly values: readonly SqlValue[]
      /** Becomes 1 when nobody waits for the answer any more. */
      readonly cancelled: Int32Array
    }
  | { readonly kind: 'next'; readonly cursor: number; readonly count: number; readonly mostBytes?: number }
  | { readonly kind: 'close'; readonly cursor: number }

export type ReaderAnswer =
  | {
      readonly cursor: number
      readonly kind: 'rows'
      readonly rows: readonly unknown[]
      readonly isLast: boolean
    }
  | { readonly cursor: number; readonly kind: 'failed'; readonly error: unknown; readonly isTooBig: boolean }

interface Cursor {
  readonly database: DatabaseSync
  readonly rows: Iterator<unknown>
  readonly cancelled: Int32Array
}

const { file } = workerData as { file: string }
const cursors = new Map<number, Cursor>()
const idle: DatabaseSync[] = []
const MOST_IDLE = 4
let running: Cursor | undefined

function connect(): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly: true })
  database.exec('pragma cache_size = -16384; pragma mmap_size = 268435456; pragma temp_store = memory')
  // Throwing is the only way to stop a statement that finds nothing.
  addFunctions(database, () => {
    if (running && Atomics.load(running.cancelled, 0) === 1) throw new Error('cancelled')
  })
  return database
}

function release(database: DatabaseSync): void {
  if (idle.length < MOST_IDLE) idle.push(database)
  else database.close()
}

parentPort!.on('message', (request: ReaderRequest) => {
  try {
    handle(request)
  } catch (error) {
    close(request.cursor)
    // What an error says beside its message is lost on the way.
    answer({ kind: 'failed', cursor: request.cursor, error, isTooBig: isTooBig(error) })
  }
})

function handle(request: ReaderRequest): void {
  switch (request.kind) {
    case 'open':
      open(request)
      break
    case 'next':
      next(request)
      break
    case 'close':
      close(request.cursor)
      break
  }
}

function open({ cursor, text, values, cancelled }: ReaderRequest & { readonly kind: 'open' }): void {
  const database = idle.pop() ?? connect()
  try {
    const statement: StatementSync = database.prepare(text)
    statement.setReturnArrays(true)
    const rows = statement.iterate(...values) as Iterator<unknown>
    cursors.set(cursor, { database, rows, cancelled })
  } catch (error) {
    release(database)
    throw error
  }
}

function close(id: number): void {
  const cursor = cursors.get(id)
  if (!cursor) return
  cursors.delete(id)
  cursor.rows.return?.()
  release(cursor.database)
}

function next({ cursor: id, count, mostBytes = Infinity }: ReaderRequest & { readonly kind: 'next' }): void {
  const cursor = cursors.get(id)
  if (!cursor) return
  running = cursor
  const rows: unknown[] = []
  let isLast = false
  let bytes = 0
  while (rows.length < count && bytes < mostBytes && !isLast) {
    const { value, done } = cursor.rows.next()
    if (done) isLast = true
    else {
      rows.push(value)
      bytes += sizeOf(value as readonly unknown[])
    }
  }
  running = undefined
  if (isLast) close(id)
  answer({ kind: 'rows', cursor: id, rows, isLast })
}

/** About as many bytes: only texts can be large. */
function sizeOf(row: readonly unknown[]): number {
  let size = 0
  for (const column of row) if (typeof column === 'string') size += column.length
  return size
}

function answer(message: ReaderAnswer): void {
  parentPort!.postMessage(message)
}
