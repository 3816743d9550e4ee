/** Fills columns in the background, as long as a table has columns that are not filled. */
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import type { Column } from '../layout/columns.ts'
import type { Catalogue, Table } from './catalogue.ts'
import { adopt, completion, enterBatch, isLong } from './column-fill.ts'
import { isComplete } from './records.ts'
import type { Readers } from './read/readers.ts'
import type { OwningWriter } from './write/writer.ts'

export interface Filler extends AsyncDisposable {
  /** Starts to work, unless it is at work already. */
  wake(): void
}

interface FillerOptions {
  readonly database: DatabaseSync
  readonly catalogue: Pick<Catalogue, 'tables' | 'reload'>
  readonly writer: Pick<OwningWriter, 'run' | 'transact' | 'lend'>
  readonly readers: Pick<Readers, 'change'>
  readonly onError: (error: unknown) => void
}

/** After a failure, such as a full disk. Longer after each, because indexes that fail to build keep others from writing. */
const RETRY_MS = 2_000
const MAX_RETRY_MS = 300_000

/** Requests have the thread for themselves in three quarters of the time. */
const PAUSE_FACTOR = 3

const MAX_ADOPTING_MS = 10

/** While another process writes. */
const MAX_WAIT_MS = 10_000

export function createFiller(options: FillerOptions): Filler {
  const { database, catalogue, writer, readers, onError } = options
  const closing = new AbortController()
  const { signal } = closing
  const bounds = { timeLimitMs: MAX_WAIT_MS, getSignal: () => signal }
  let working: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let retryMs = RETRY_MS

  const incomplete = (): readonly Table[] => [...catalogue.tables()].filter((table) => !isComplete(table))

  async function work(): Promise<void> {
    try {
      for (let tables = incomplete(); tables.length > 0 && !signal.aborted; tables = incomplete()) {
        const earlier = tables.filter(({ isEarlier }) => isEarlier)
        if (earlier.length > 0) await adoptSome(earlier)
        else await fill(tables[0]!.no)
        retryMs = RETRY_MS
      }
    } catch (error) {
      if (signal.aborted) return
      onError(error)
      timer = setTimeout(wake, retryMs).unref()
      retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)
    }
  }

  async function adoptSome(tables: readonly Table[]): Promise<void> {
    const milliseconds = await writer.transact(
      async () => {
        const start = performance.now()
        for (const { no } of tables) {
          adopt(database, no)
          if (performance.now() - start > MAX_ADOPTING_MS) break
        }
        return performance.now() - start
      },
      { bounds },
    )
    catalogue.reload()
    await pauseAfter(milliseconds, signal)
  }

  async function fill(no: number): Promise<void> {
    while (!signal.aborted) {
      const { entered, milliseconds } = await writer.run(() => {
        const start = performance.now()
        return { entered: enterBatch(database, no), milliseconds: performance.now() - start }
      }, bounds)
      if (entered) return await complete(no, entered)
      await pauseAfter(milliseconds, signal)
    }
  }

  /** Indexes are built on another thread, which has the right to write meanwhile. */
  async function complete(no: number, entered: readonly Column[]): Promise<void> {
    const completed = await writer.transact(
      async () => {
        const statements = completion(database, no, entered)
        if (isLong(statements)) return false
        for (const { text, values } of statements) database.prepare(text).run(...values)
        return true
      },
      { bounds },
    )
    if (!completed) {
      const giveBack = await writer.lend()
      try {
        await readers.change(completion(database, no, entered))
      } finally {
        giveBack()
      }
    }
    catalogue.reload()
  }

  function wake(): void {
    if (signal.aborted || working || incomplete().length === 0) return
    clearTimeout(timer)
    timer = undefined
    working = work().finally(() => {
      working = undefined
      // A table may have been added in the last moment; after a failure the timer wakes it.
      if (!timer) wake()
    })
  }

  return {
    wake,
    async [Symbol.asyncDispose]() {
      closing.abort()
      clearTimeout(timer)
      await working
    },
  }
}

async function pauseAfter(milliseconds: number, signal: AbortSignal): Promise<void> {
  await pause(milliseconds * PAUSE_FACTOR, undefined, { ref: false, signal })
}
