/**
 * Returns the space of deleted documents to the file system, a few pages at a time. Only pages that stayed free for a
 * while are returned: a store that deletes as much as it inserts needs them again soon.
 */
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { pollFor } from './polling.ts'
import type { Writer } from './writer.ts'

interface FreePagesOptions {
  readonly database: DatabaseSync
  readonly writer: Pick<Writer, 'run'>
}

const POLL_MS = 1_000
/** Pages that were free in so many polls are returned. */
const POLLS = 5
/** So many stay, 4 MiB, for the next writes. */
const RESERVE = 1_024

/** Steps become larger or smaller, so that each keeps writers waiting for about this long. */
const STEP_MS = 4
const STEP = { least: 64, first: 256, most: 1_024 }
/** While another process writes. */
const MAX_WAIT_MS = 1_000
/** Writers go first. */
const REST_MS = 20

/** The number of `pragma auto_vacuum` for a file whose free pages can be returned without a copy of it. */
const INCREMENTAL = 2

export function returnFreePages({ database, writer }: FreePagesOptions): AsyncDisposable {
  const { auto_vacuum: mode } = database.prepare('pragma auto_vacuum').get() as { auto_vacuum: number }
  if (mode !== INCREMENTAL) return { [Symbol.asyncDispose]: async () => undefined }
  const count = database.prepare('pragma freelist_count')
  const freePages = (): number => (count.get() as { freelist_count: number }).freelist_count
  let seen: readonly number[] = []

  async function giveBack(surplus: number, signal: AbortSignal): Promise<void> {
    const bounds = { timeLimitMs: MAX_WAIT_MS, getSignal: () => signal }
    let remaining = surplus
    let step = STEP.first
    while (remaining > 0 && freePages() > RESERVE && !signal.aborted) {
      const pages = Math.min(step, remaining)
      const took = await writer.run(() => {
        const began = performance.now()
        database.exec(`pragma incremental_vacuum(${pages})`)
        return performance.now() - began
      }, bounds)
      remaining -= pages
      if (took > STEP_MS) step = Math.max(STEP.least, step >> 1)
      else if (took < STEP_MS / 2) step = Math.min(STEP.most, step << 1)
      await pause(REST_MS, undefined, { ref: false, signal })
    }
    // The file itself becomes shorter when the log has been moved into it.
    database.exec('pragma wal_checkpoint(passive)')
  }

  function look(signal: AbortSignal): Promise<void> | undefined {
    seen = [...seen, freePages()].slice(-POLLS)
    const surplus = Math.min(...seen) - RESERVE
    if (seen.length < POLLS || surplus <= 0) return undefined
    seen = []
    return giveBack(surplus, signal)
  }

  return pollFor({ everyMs: POLL_MS, look })
}
