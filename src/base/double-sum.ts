/**
 * Sums of doubles that do not depend on the order: the exact sum, rounded once to the nearest double. Adding doubles
 * one after the other would give each engine, and each plan of an engine, a different last digit.
 */

export interface DoubleSum {
  /** A number beyond all doubles, such as 1e400, is infinite. */
  readonly add: (value: number) => void
  /** Infinite if the sum or one of the numbers exceeds the range of a double; positive if there are some of both signs. */
  readonly total: () => number
  readonly count: () => number
}

export function createDoubleSum(): DoubleSum {
  /** The sum of the significands of all numbers with the same exponent. */
  const sums: (bigint | undefined)[] = []
  let infinite: number | undefined
  let count = 0
  return {
    add(value) {
      count++
      if (!Number.isFinite(value)) {
        infinite = Math.max(value, infinite ?? value)
        return
      }
      DOUBLE[0] = value
      const high = WORDS[1]!
      const biased = (high >>> 20) & 0x7ff
      const fraction = (high & 0xfffff) * 2 ** 32 + WORDS[0]!
      const significand = BigInt(biased === 0 ? fraction : fraction + 2 ** 52)
      const exponent = Math.max(biased, 1) - 1
      sums[exponent] = (sums[exponent] ?? 0n) + (high >>> 31 === 1 ? -significand : significand)
    },
    total() {
      if (infinite !== undefined) return infinite
      let sum = 0n
      for (const [exponent, part] of sums.entries()) if (part) sum += part << BigInt(exponent)
      return fromUnits(sum)
    },
    count: () => count,
  }
}

const DOUBLE = new Float64Array(1)
/** The same bytes; every platform of Node.js is little-endian. */
const WORDS = new Uint32Array(DOUBLE.buffer)

/** The double nearest to `units` × 2^-1074, the smallest step of a double; ties go to even. */
function fromUnits(units: bigint): number {
  const magnitude = units < 0n ? -units : units
  const length = magnitude.toString(2).length
  if (length <= KEPT_BITS) return scaledDown(Number(units), -1074)
  // The conversion to a number rounds correctly if the bits that are cut off still show whether they were zero.
  const cut = BigInt(length - KEPT_BITS)
  const kept = magnitude >> cut
  const isExact = kept << cut === magnitude
  const rounded = Number(isExact ? kept : kept | 1n)
  return scaledDown(units < 0n ? -rounded : rounded, length - KEPT_BITS - 1074)
}

/** More than the 53 bits of a double, and few enough that the conversion cannot overflow. */
const KEPT_BITS = 64

/** Two multiplications by powers of two, because the power alone may be smaller than any double. */
function scaledDown(value: number, exponent: number): number {
  const half = Math.trunc(exponent / 2)
  return value * 2 ** half * 2 ** (exponent - half)
}
