/** Timers of configured length. */

/** The longest delay of a timer; Node.js replaces a longer one by one millisecond. */
const MAX_TIMER_MS = 2 ** 31 - 1

export function timerMs(ms: number): number {
  return Math.min(ms, MAX_TIMER_MS)
}
