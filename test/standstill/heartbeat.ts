/**
 * Preloaded into a service process (`--import`): measures how long its event loop pauses. The main thread beats every
 * few milliseconds; a thread of its own reads the beats and reports over file descriptor 3, also while the main
 * thread is stuck.
 */
import { readFileSync } from 'node:fs'
import { Worker, isMainThread } from 'node:worker_threads'

/** Places in the shared array. Times are milliseconds of the monotonic clock of the machine. */
export const LAST_BEAT = 0
export const LONGEST_PAUSE = 1
/** The same without the time in which the main thread waited for a processor that others were using. */
export const LONGEST_OWN_PAUSE = 2
/** How long it had waited for a processor at the last beat. */
export const LAST_STARVED = 3
export const HEAP_MB = 4
/** 1 while somebody waits for a garbage collection. */
export const COLLECT = 5
export const PLACES = 6

export const BEAT_MS = 5

export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Of the main thread since the start; where the system does not tell, every pause counts in full. */
export function starvedMs(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

if (isMainThread) startBeating()

function startBeating(): void {
  const shared = new Float64Array(new SharedArrayBuffer(PLACES * Float64Array.BYTES_PER_ELEMENT))
  const mark = (): void => {
    shared[LAST_BEAT] = monotonicMs()
    shared[LAST_STARVED] = starvedMs()
  }
  mark()
  const beat = (): void => {
    const pause = monotonicMs() - shared[LAST_BEAT]! - BEAT_MS
    const own = pause - (starvedMs() - shared[LAST_STARVED]!)
    shared[LONGEST_PAUSE] = Math.max(shared[LONGEST_PAUSE]!, pause)
    shared[LONGEST_OWN_PAUSE] = Math.max(shared[LONGEST_OWN_PAUSE]!, own)
    if (shared[COLLECT] === 1) collect(shared)
    mark()
  }
  setInterval(beat, BEAT_MS).unref()
  const thread = new Worker(new URL('./heartbeat-thread.ts', import.meta.url), {
    workerData: shared,
    execArgv: [],
  })
  thread.unref()
}

/** The pause that this makes is not counted. */
function collect(shared: Float64Array): void {
  // this kind also gives memory back to the system
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  const { heapUsed, external } = process.memoryUsage()
  shared[HEAP_MB] = (heapUsed + external) / 2 ** 20
  shared[COLLECT] = 0
}
