/** Work in memory that takes its time: it ends when the time of the request does, and lets others have their turn. */
import { setImmediate as turn } from 'node:timers/promises'
import { hungUp, timedOut } from '../store/giving-up.ts'
import type { Bounds } from '../store/store.ts'

export interface Patience {
  /** To be called between steps; throws when the time is over, or nobody waits any more. */
  readonly check: () => void
  /** The same, and lets others have their turn now and then. */
  readonly rest: () => Promise<void>
}

const TURN_MS = 20

export function patienceFor({ timeLimitMs, hangUp }: Bounds): Patience {
  const end = performance.now() + timeLimitMs
  const signal = hangUp?.()
  let turned = performance.now()
  const check = (): void => {
    if (signal?.aborted) throw hungUp()
    if (performance.now() > end) throw timedOut(timeLimitMs)
  }
  return {
    check,
    async rest() {
      check()
      if (performance.now() - turned < TURN_MS) return
      await turn()
      turned = performance.now()
    },
  }
}
