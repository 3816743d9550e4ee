/** Runs work in memory in time slices: it yields to other requests, and ends with the time limit of its request. */
import { setImmediate as nextIteration } from 'node:timers/promises'
import type { ShouldYield, Yielding } from '../../lang/evaluate/time-slice.ts'
import { during } from '../../base/work/work.ts'
import { callerLeft, timedOut } from '../../base/work/work.ts'
import type { Bounds } from '../../store/bounds.ts'

export interface TimeSlice {
  /** To be checked between steps. */
  readonly shouldYield: ShouldYield
  /** Runs the work to its end; throws after the time limit, or if the caller has disconnected. */
  readonly finish: <T>(work: Yielding<T>) => Promise<T>
}

const SLICE_MS = 10

/** Counts only the time of this work. Time in stores does not count, because they enforce the limit themselves. */
export function timeSliceFor({ timeLimitMs, getSignal, work: request }: Bounds): TimeSlice {
  const next = <T>(work: Yielding<T>): IteratorResult<undefined, T> =>
    request ? during(request, () => work.next()) : work.next()
  const signal = getSignal?.()
  let remainingMs = timeLimitMs
  let resumedAt = performance.now()
  return {
    shouldYield: () => performance.now() - resumedAt > SLICE_MS,
    async finish(work) {
      const start = performance.now()
      try {
        for (let step = next(work); ; step = next(work)) {
          if (step.done) return step.value
          if (signal?.aborted) throw callerLeft()
          if (performance.now() - start > remainingMs) throw timedOut(timeLimitMs)
          await nextIteration()
          resumedAt = performance.now()
        }
      } finally {
        remainingMs -= performance.now() - start
      }
    },
  }
}
