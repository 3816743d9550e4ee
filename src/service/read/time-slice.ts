/** Work in memory that takes its time: it ends when the time of the request does, and lets others have their turn. */
import { setImmediate as turn } from 'node:timers/promises'
import type { ShouldYield, Yielding } from '../../lang/evaluate/time-slice.ts'
import { during } from '../../base/work/work.ts'
import { callerLeft, timedOut } from '../../base/work/work.ts'
import type { Bounds } from '../../store/bounds.ts'

export interface TimeSlice {
  /** To be asked between steps. */
  readonly shouldYield: ShouldYield
  /** Does the work to its end; throws when the time is over, or nobody waits any more. */
  readonly finish: <T>(work: Yielding<T>) => Promise<T>
}

const TURN_MS = 10

/** Only the time of the work counts, not that of stores, which are held to the limit on their own. */
export function timeSliceFor({ timeLimitMs, getSignal, work: request }: Bounds): TimeSlice {
  const next = <T>(work: Yielding<T>): IteratorResult<undefined, T> =>
    request ? during(request, () => work.next()) : work.next()
  const signal = getSignal?.()
  let remainingMs = timeLimitMs
  let turned = performance.now()
  return {
    shouldYield: () => performance.now() - turned > TURN_MS,
    async finish(work) {
      const start = performance.now()
      try {
        for (let step = next(work); ; step = next(work)) {
          if (step.done) return step.value
          if (signal?.aborted) throw callerLeft()
          if (performance.now() - start > remainingMs) throw timedOut(timeLimitMs)
          await turn()
          turned = performance.now()
        }
      } finally {
        remainingMs -= performance.now() - start
      }
    },
  }
}
