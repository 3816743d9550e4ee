/** The numbers that document versions are made of. */

/** Never the same twice, and never less than before, also when the clock stands still or is set back. */
export function risingFrom(now: () => number): () => number {
  let last = 0
  return () => (last = Math.max(last + 1, now()))
}

/** Since 1970. */
export function microseconds(): number {
  return Math.floor((performance.timeOrigin + performance.now()) * 1000)
}
