/** Detects an overloaded event loop, so that new requests can be rejected before all requests become slow. */
import { readFileSync } from 'node:fs'
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
  let last = { at: performance.now(), unscheduledMs: unscheduledMs() }
  delay.enable()
  const timer = setInterval(() => {
    const now = { at: performance.now(), unscheduledMs: unscheduledMs() }
    const lagMs = lagOf({
      ticks: delay.count,
      meanTickMs: delay.count === 0 ? 0 : delay.mean / 1e6,
      elapsedMs: now.at - last.at,
      unscheduledMs: now.unscheduledMs - last.unscheduledMs,
    })
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

interface Window {
  /** Ticks that the histogram recorded, and the mean time between two of them. */
  readonly ticks: number
  readonly meanTickMs: number
  readonly elapsedMs: number
  /** How long the thread was ready to run and the system ran others. */
  readonly unscheduledMs: number
}

/** The lag that requests caused. On a crowded machine the loop is late, too, but to reject requests would not help. */
export function lagOf({ ticks, meanTickMs, elapsedMs, unscheduledMs: waitedMs }: Window): number {
  const byTicks = ticks === 0 ? 0 : meanTickMs - RESOLUTION_MS - waitedMs / ticks
  // a loop that is blocked for the whole second records no tick, but delays the timer
  return Math.max(0, byTicks, elapsedMs - WINDOW_MS - waitedMs)
}

/** In total, of this thread. Zero where the system does not say. */
function unscheduledMs(): number {
  if (process.platform !== 'linux') return 0
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

const WINDOW_MS = 1_000
/** The histogram records the time between two ticks of this length, so the length itself is not lag. */
const RESOLUTION_MS = 20
