/** The numbers that document versions are made of. */

export interface RisingClock {
  /** Never the same twice, and never less than before, also when the clock stands still or is set back. */
  (): number
  /** The last number that it gave. */
  readonly last: () => number
  /** The next numbers are larger than this one, which another thread gave. */
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

/** Since 1970. */
export function microseconds(): number {
  return Math.floor((performance.timeOrigin + performance.now()) * 1000)
}
