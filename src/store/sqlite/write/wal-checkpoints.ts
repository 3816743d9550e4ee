/**
 * Keeps the write-ahead log small. During a long read all writes stay in the log, and moving them into the
 * database file afterwards takes long. Another thread does that, and the writer only has to finish it.
 */
import { statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { LOG_BYTES } from '../file/connection.ts'
import type { Readers } from '../read/readers.ts'

/**
 * With a log of this size new reads wait until the running ones have ended, so that the log cannot grow
 * without bound.
 */
const MAX_LOG_BYTES = 256 * 1024 * 1024

/** SQLite's default for automatic checkpoints: so many pages take the writer a few milliseconds. */
const FEW_PAGES = 1_000

const LOOK_AGAIN_MS = 250

interface LogKeeping {
  readonly file: string
  /** Runs on the writing connection. */
  readonly exec: (text: string) => void
  readonly readers: Pick<Readers, 'checkpoint' | 'whenQuiet'>
}

export function keepLogSmall({ file, exec, readers }: LogKeeping): AsyncDisposable {
  const closing = new AbortController()
  const { signal } = closing
  let tending: Promise<void> | undefined

  async function shorten(): Promise<void> {
    const { logged, moved } = await readers.checkpoint()
    // Has no effect while a reader still uses the log.
    if (!signal.aborted && logged - moved <= FEW_PAGES) exec('pragma wal_checkpoint(truncate)')
  }

  async function tend(): Promise<void> {
    exec('pragma wal_autocheckpoint = 0')
    try {
      while (!signal.aborted && sizeOf(file) > LOG_BYTES) {
        await (sizeOf(file) > MAX_LOG_BYTES ? readers.whenQuiet(shorten) : shorten())
        await pause(LOOK_AGAIN_MS, undefined, { ref: false, signal })
      }
    } finally {
      if (!signal.aborted) exec(`pragma wal_autocheckpoint = ${FEW_PAGES}`)
    }
  }

  const timer = setInterval(() => {
    if (tending || sizeOf(file) <= LOG_BYTES) return
    // Errors here, such as a full disk, reach writers as well, and the checkpoint is tried again.
    tending = tend()
      .catch(() => undefined)
      .finally(() => (tending = undefined))
  }, LOOK_AGAIN_MS).unref()

  return {
    async [Symbol.asyncDispose]() {
      closing.abort()
      clearInterval(timer)
      await tending
    },
  }
}

function sizeOf(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
}
