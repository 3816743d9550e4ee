/**
 * A thread that answers slow questions on a connection of its own. Cursors give one batch at a time, so many can be
 * open at once, and none runs ahead of whoever reads it.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { SqlValue } from '../sql/fragment.ts'
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
  | { readonly kind: 'next'; readonly cursor: number; readonly count: number }
  | { readonly kind: 'close'; readonly cursor: number }

export type ReaderAnswer =
  | {
      readonly cursor: number
      readonly kind: 'rows'
      readonly rows: readonly unknown[]
      readonly isLast: boolean
    }
  | { readonly cursor: number; readonly kind: 'failed'; readonly error: unknown }

interface Cursor {
  readonly rows: Iterator<unknown>
  readonly cancelled: Int32Array
}

const { file } = workerData as { file: string }
const database = new DatabaseSync(file, { readOnly: true })
database.exec('pragma cache_size = -16384; pragma mmap_size = 268435456; pragma temp_store = memory')
const cursors = new Map<number, Cursor>()
let running: Cursor | undefined

// Throwing is the only way to stop a statement that finds nothing.
addFunctions(database, () => {
  if (running && Atomics.load(running.cancelled, 0) === 1) throw new Error('cancelled')
})

parentPort!.on('message', (request: ReaderRequest) => {
  try {
    handle(request)
  } catch (error) {
    cursors.delete(request.cursor)
    answer({ kind: 'failed', cursor: request.cursor, error })
  }
})

function handle(request: ReaderRequest): void {
  switch (request.kind) {
    case 'open': {
      const statement: StatementSync = database.prepare(request.text)
      statement.setReturnArrays(true)
      const rows = statement.iterate(...request.values) as Iterator<unknown>
      cursors.set(request.cursor, { rows, cancelled: request.cancelled })
      break
    }
    case 'next':
      next(request.cursor, request.count)
      break
    case 'close':
      cursors.get(request.cursor)?.rows.return?.()
      cursors.delete(request.cursor)
      break
  }
}

function next(id: number, count: number): void {
  const cursor = cursors.get(id)
  if (!cursor) return
  running = cursor
  const rows: unknown[] = []
  let isLast = false
  while (rows.length < count && !isLast) {
    const { value, done } = cursor.rows.next()
    if (done) isLast = true
    else rows.push(value)
  }
  running = undefined
  if (isLast) cursors.delete(id)
  answer({ kind: 'rows', cursor: id, rows, isLast })
}

function answer(message: ReaderAnswer): void {
  parentPort!.postMessage(message)
}
