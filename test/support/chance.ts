/** Random choices in direct style: the same seed always makes the same choices. */
import { type Chance as Draw, chanceFrom as drawsFrom } from './seeded.ts'

export interface Chance {
  /** A whole number from 0 up to, not including, `end`. */
  int(end: number): number
  pick<T>(list: readonly T[]): T
  /** True in that many of a hundred cases. */
  happens(percent: number): boolean
  /** As many values as a number below `end` says. */
  list<T>(end: number, make: () => T): readonly T[]
}

/** Small numbers, and those near the end, come more often than others. */
export function sample<T>(seed: number, make: (chance: Chance) => T): T {
  return make(chanceOf(unevenly(drawsFrom(seed))))
}

/** All numbers come equally often. */
export function sampleEvenly<T>(seed: number, make: (chance: Chance) => T): T {
  return make(chanceOf(drawsFrom(seed)))
}

function chanceOf(int: Draw): Chance {
  return {
    int,
    pick: (list) => list[int(list.length)]!,
    happens: (percent) => int(100) < percent,
    list: (end, make) => Array.from({ length: int(end) }, make),
  }
}

/** Every other number is one of a few: of the smallest, or half as often of the largest. */
function unevenly(draw: Draw): Draw {
  return (end) => {
    if (end < 2 || draw(2) === 0) return draw(end)
    const few = Math.floor(Math.log2(end - 1)) + 1
    return draw(3) < 2 ? draw(few) : end - few + draw(few)
  }
}
