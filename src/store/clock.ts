/** A strictly increasing clock. Document versions are its readings. */

export interface RisingClock {
  /** Returns a larger number on every call, even when the system clock stands still or is set back. */
  (): number
  /** The last number that was returned. */
  readonly last: () => number
  /** Makes later numbers larger than this one, which another thread has used. */
  readonly raiseTo: (number: number) => void
}

export function risingFrom(now: () => number): RisingClock {
  let last = 0
  const next = (): number => (last = Math.max(last + 1, now()))
  return Object.assign(next, {
    last: () => last,
    raiseTo: (number: number) => {
      last = Math.max(last, number)
    },
  })
}

/** Microseconds since 1970. */
export function microseconds(): number {
  return Math.floor((performance.timeOrigin + performance.now()) * 1000)
}
