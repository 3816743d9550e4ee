/**
 * Keeps the write-ahead log small. A long read keeps all that is written meanwhile in the log, and to move it into the
 * database file afterwards takes long: that is done on another thread, and the writer only has to finish.
 */
import { statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { LOG_BYTES } from '../file/connection.ts'
import type { Readers } from '../read/readers.ts'

/** With a log of this size no read begins until those that run have ended, so that it cannot grow without end. */
const MAX_LOG_BYTES = 256 * 1024 * 1024

/** The engine's own default: the writer moves as many pages by itself, which takes it a few milliseconds. */
const FEW_PAGES = 1_000

const LOOK_AGAIN_MS = 250

interface LogKeeping {
  readonly file: string
  /** On the connection that writes. */
  readonly exec: (text: string) => void
  readonly readers: Pick<Readers, 'checkpoint' | 'whenQuiet'>
}

export function keepLogSmall({ file, exec, readers }: LogKeeping): AsyncDisposable {
  const closing = new AbortController()
  const { signal } = closing
  let tending: Promise<void> | undefined

  async function shorten(): Promise<void> {
    const { logged, moved } = await readers.checkpoint()
    // Fails without harm while somebody still reads from the log.
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
    // What fails here, such as a full disk, fails writers as well, and is tried again.
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
