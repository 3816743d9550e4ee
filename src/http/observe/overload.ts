/** Detects an overloaded event loop, so that new requests can be rejected before all requests become slow. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

export interface Overload {
  readonly isOverloaded: () => boolean
  readonly close: () => void
}

const MAX_LAG_MS = 1_000

/** Measures the mean lag of each second. Overload needs two slow seconds in a row: a single one is one large request. */
export function watchEventLoop(maxLagMs: number = MAX_LAG_MS): Overload {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  let isOverloaded = false
  let wasLate = false
  let last = performance.now()
  delay.enable()
  const timer = setInterval(() => {
    const now = performance.now()
    // a loop that is blocked for the whole second records no sample, but delays this timer
    const lagMs = Math.max(delay.count === 0 ? 0 : delay.mean / 1e6 - RESOLUTION_MS, now - last - WINDOW_MS)
    isOverloaded = wasLate && lagMs > maxLagMs
    wasLate = lagMs > maxLagMs
    last = now
    delay.reset()
  }, WINDOW_MS).unref()
  return {
    isOverloaded: () => isOverloaded,
    close() {
      clearInterval(timer)
      delay.disable()
    },
  }
}

const WINDOW_MS = 1_000
/** The histogram records the time between two ticks of this length, so the length itself is not lag. */
const RESOLUTION_MS = 20
