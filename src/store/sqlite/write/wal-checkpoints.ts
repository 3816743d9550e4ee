/**
 * Keeps the write-ahead log small. During a long read all writes stay in the log, and moving them into the
 * database file afterwards takes long. Another thread does that, and the writer only has to finish it. When nobody has
 * written for a while, the log is emptied, and the file loses the pages at its end that are free.
 */
import { statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { LOG_BYTES } from '../file/connection.ts'
import type { Readers } from '../read/readers.ts'
import { pollFor } from './polling.ts'

/**
 * With a log of this size new reads wait until the running ones have ended, so that the log cannot grow
 * without bound.
 */
const MAX_LOG_BYTES = 256 * 1024 * 1024

/** SQLite's default for automatic checkpoints: so many pages take the writer a few milliseconds. */
const FEW_PAGES = 1_000

const POLL_MS = 250

/** Emptied when it was not written to for this long. */
const IDLE_MS = 5_000

interface CheckpointOptions {
  readonly file: string
  /** Runs on the writing connection. */
  readonly exec: (text: string) => void
  readonly readers: Pick<Readers, 'checkpoint' | 'whenQuiet'>
}

export function keepLogSmall({ file, exec, readers }: CheckpointOptions): AsyncDisposable {
  async function shorten(signal: AbortSignal): Promise<void> {
    const { logged, moved } = await readers.checkpoint()
    // Has no effect while a reader still uses the log.
    if (!signal.aborted && logged - moved <= FEW_PAGES) exec('pragma wal_checkpoint(truncate)')
  }

  async function checkpoint(signal: AbortSignal): Promise<void> {
    exec('pragma wal_autocheckpoint = 0')
    try {
      while (!signal.aborted && logOf(file).bytes > LOG_BYTES) {
        await (logOf(file).bytes > MAX_LOG_BYTES ? readers.whenQuiet(() => shorten(signal)) : shorten(signal))
        await pause(POLL_MS, undefined, { ref: false, signal })
      }
    } finally {
      if (!signal.aborted) exec(`pragma wal_autocheckpoint = ${FEW_PAGES}`)
    }
  }

  /** A short log: it takes no longer than the checkpoints that writes make. */
  function empty(): void {
    try {
      exec('pragma wal_checkpoint(truncate)')
    } catch {
      // tried again in the next round
    }
  }

  function look(signal: AbortSignal): Promise<void> | undefined {
    const { bytes, idleMs } = logOf(file)
    if (bytes > 0 && bytes <= LOG_BYTES && idleMs > IDLE_MS) empty()
    return bytes > LOG_BYTES ? checkpoint(signal) : undefined
  }

  return pollFor({ everyMs: POLL_MS, look })
}

function logOf(file: string): { readonly bytes: number; readonly idleMs: number } {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false })
  return { bytes: log?.size ?? 0, idleMs: Date.now() - (log?.mtimeMs ?? 0) }
}
