/** What the main thread of a watched service and the thread beside it share. */
import { readFileSync } from 'node:fs'

/** Places in the shared array. Times are milliseconds of the monotonic clock of the machine. */
export const LAST_BEAT = 0
export const LONGEST_PAUSE = 1
/** The same without the time in which the main thread waited for a processor that others were using. */
export const LONGEST_OWN_PAUSE = 2
/** When that pause ended. */
export const LONGEST_ENDED = 3
/** How long it had waited for a processor at the last beat. */
export const LAST_STARVED = 4
export const HEAP_MB = 5
/** 1 while somebody waits for a garbage collection. */
export const COLLECT = 6
export const PLACES = 7

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
