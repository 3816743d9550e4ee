/** Random choices in direct style on top of fast-check: the same seed always makes the same choices. */
import fc from 'fast-check'

export interface Chance {
  /** A whole number from 0 up to, not including, `end`. */
  int(end: number): number
  pick<T>(list: readonly T[]): T
  /** True in that many of a hundred cases. */
  happens(percent: number): boolean
  /** As many values as a number below `end` says. */
  list<T>(end: number, make: () => T): readonly T[]
}

export function sample<T>(seed: number, make: (chance: Chance) => T): T {
  const [value] = fc.sample(
    fc.gen().map((gen) => {
      const int = (end: number): number => gen(fc.nat, end - 1)
      return make({
        int,
        pick: (list) => list[int(list.length)]!,
        happens: (percent) => int(100) < percent,
        list: (end, each) => Array.from({ length: int(end) }, each),
      })
    }),
    { seed, numRuns: 1 },
  )
  return value as T
}
