/** Random numbers that a printed seed repeats, for every test that leaves something to chance. */

/** A number below `n`. */
export type Chance = (n: number) => number

/** A small generator that a printed seed repeats (mulberry32). */
export function chanceFrom(seed: number): Chance {
  let state = seed >>> 0
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * n)
  }
}
