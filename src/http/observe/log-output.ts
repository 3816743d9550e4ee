/** Writes the log in the background, so that a slow or missing reader neither stalls the service nor keeps it alive. */
import { write, writeSync } from 'node:fs'

interface LogOutput {
  readonly write: (text: string) => void
  /** Resolves when everything is written, or after a time limit if nothing reads the log. */
  readonly drained: () => Promise<void>
  /** Writes the rest synchronously, as far as it is read. It may overtake a write in progress: see `drained`. */
  readonly flushSync: () => void
}

/** Runs one write at a time, so that lines stay in order. Lines that cannot be written, without a reader, are dropped. */
export function outputTo(fd: number): LogOutput {
  let waiting = ''
  let left: Buffer | undefined
  let isUnderWay = false
  let onDrained = (): void => undefined
  const next = (): void => {
    if (isUnderWay) return
    if (left === undefined) {
      if (waiting === '') {
        onDrained()
        return
      }
      left = Buffer.from(waiting)
      waiting = ''
    }
    isUnderWay = true
    write(fd, left, done)
  }
  const done = (error: NodeJS.ErrnoException | null, written: number): void => {
    isUnderWay = false
    if (error && isFull(error)) {
      setTimeout(next, PAUSE_MS).unref()
      return
    }
    left = error || written === left?.length ? undefined : left?.subarray(written)
    next()
  }
  return {
    write(text) {
      waiting += text
      next()
    },
    drained() {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, MAX_WAIT_MS)
      onDrained = () => {
        clearTimeout(timer)
        resolve()
      }
      next()
      return promise
    },
    flushSync() {
      // a write in progress is left to finish: its text would otherwise be written twice
      if (left !== undefined && !isUnderWay) writeAll(fd, left)
      writeAll(fd, Buffer.from(waiting))
      if (!isUnderWay) left = undefined
      waiting = ''
    },
  }
}

const PAUSE_MS = 10
const MAX_WAIT_MS = 1_000

function writeAll(fd: number, bytes: Buffer): void {
  const deadline = performance.now() + MAX_WAIT_MS
  for (let from = 0; from < bytes.length;) {
    try {
      from += writeSync(fd, bytes, from)
    } catch (error) {
      if (!isFull(error) || performance.now() > deadline) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
    }
  }
}

function isFull(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EAGAIN'
}
