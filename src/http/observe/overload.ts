/** Notices when the event loop falls behind, so that new work can be turned away before all of it is late. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

export interface Overload {
  readonly isOverloaded: () => boolean
  readonly close: () => void
}

const MAX_LAG_MS = 1_000

/** Judges one second at a time, by how late the loop was on the average; one late second alone is a big request. */
export function watchEventLoop(maxLagMs: number = MAX_LAG_MS): Overload {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  let isOverloaded = false
  let wasLate = false
  let last = performance.now()
  delay.enable()
  const timer = setInterval(() => {
    const now = performance.now()
    // a loop that is stuck for the whole second leaves no sample, but makes this timer itself late
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
/** The histogram holds the time between two ticks of this length, so the length itself is no lag. */
const RESOLUTION_MS = 20
