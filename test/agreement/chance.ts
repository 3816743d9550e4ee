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

/** Small numbers, and those near the end, come more often than others. */
export function sample<T>(seed: number, make: (chance: Chance) => T): T {
  return sampled(seed, make, true)
}

/** All numbers come equally often. */
export function sampleEvenly<T>(seed: number, make: (chance: Chance) => T): T {
  return sampled(seed, make, false)
}

function sampled<T>(seed: number, make: (chance: Chance) => T, isBiased: boolean): T {
  const [value] = fc.sample(new Direct(make, isBiased), { seed, numRuns: 1 })
  return value as T
}

/** Draws as `fc.gen` does, and keeps no record of what was drawn, which would cost more than drawing. */
class Direct<T> extends fc.Arbitrary<T> {
  readonly #make: (chance: Chance) => T
  readonly #isBiased: boolean

  constructor(make: (chance: Chance) => T, isBiased: boolean) {
    super()
    this.#make = make
    this.#isBiased = isBiased
  }

  generate(random: fc.Random, biasFactor: number | undefined): fc.Value<T> {
    const bias = this.#isBiased ? biasFactor : undefined
    const int = (end: number): number => below(end).generate(random, bias).value
    const value = this.#make({
      int,
      pick: (list) => list[int(list.length)]!,
      happens: (percent) => int(100) < percent,
      list: (end, each) => Array.from({ length: int(end) }, each),
    })
    return new fc.Value(value, undefined)
  }

  canShrinkWithoutContext(_value: unknown): _value is T {
    return false
  }

  shrink(): fc.Stream<fc.Value<T>> {
    return fc.Stream.nil()
  }
}

const known = new Map<number, fc.Arbitrary<number>>()

function below(end: number): fc.Arbitrary<number> {
  let numbers = known.get(end)
  if (!numbers) known.set(end, (numbers = fc.nat(end - 1)))
  return numbers
}
