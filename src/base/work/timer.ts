/** Timers of configured length. */

/** The longest that a timer can wait; Node takes anything longer for a millisecond. */
const LONGEST_MS = 2 ** 31 - 1

export function timerMs(ms: number): number {
  return Math.min(ms, LONGEST_MS)
}
