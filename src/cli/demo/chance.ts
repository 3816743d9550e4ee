/** Random numbers that are the same in every run, so that the demo and its examples are, too. */

export interface Chance {
  /** From 0 to 1. */
  readonly next: () => number
  readonly below: (limit: number) => number
  readonly pick: <T>(list: readonly T[]) => T
}

/** Mulberry32. */
export function chanceFrom(seed: number): Chance {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return { next, below, pick: (list) => list[below(list.length)]! }
}
