/**
 * Preloaded into a service process (`--import`): measures how long its event loop pauses. The main thread beats every
 * few milliseconds; a thread of its own reads the beats and reports over file descriptor 3, also while the main
 * thread is stuck.
 */
import { Worker, isMainThread } from 'node:worker_threads'
import {
  BEAT_MS,
  COLLECT,
  HEAP_MB,
  LAST_BEAT,
  LAST_STARVED,
  LONGEST_ENDED,
  LONGEST_OWN_PAUSE,
  LONGEST_PAUSE,
  PLACES,
  monotonicMs,
  starvedMs,
} from './beats.ts'

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
    if (own > shared[LONGEST_OWN_PAUSE]!) {
      shared[LONGEST_OWN_PAUSE] = own
      shared[LONGEST_ENDED] = monotonicMs()
    }
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
