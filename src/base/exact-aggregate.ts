/** Exact sums and extremes of decimal numbers, and averages with a fixed number of significant digits. */
import { type Decimal, type Scaled, compareDecimal, parseDecimal, printScaled, scaled } from './decimal.ts'

export interface ExactSum {
  /** Adds the number that a text denotes; it must be in range. */
  readonly add: (text: string) => void
  /** The sum with the largest scale of all numbers added. */
  readonly total: () => string
  /** The sum divided by how many numbers were added; they must be at least one. */
  readonly average: () => string
  readonly count: () => number
}

/** Digits of an average. */
const SIGNIFICANT_DIGITS = 20

export function createExactSum(): ExactSum {
  let sum: Scaled = { units: 0n, scale: 0 }
  // Small integers are added as plain numbers, which is far faster, and moved to `sum` before they could be inexact.
  let small = 0
  let count = 0
  const collect = (): Scaled => {
    if (small !== 0) sum = addScaled(sum, { units: BigInt(small), scale: 0 })
    small = 0
    return sum
  }
  return {
    add(text) {
      count++
      const number = text.length < SAFE_LENGTH && PLAIN_INTEGER.test(text) ? Number(text) : undefined
      if (number === undefined) sum = addScaled(sum, scaled(text))
      else if (Math.abs((small += number)) > MAX_SMALL) collect()
    },
    total() {
      const { units, scale } = collect()
      return printScaled(units, scale)
    },
    average: () => quotientOf(collect(), BigInt(count)),
    count: () => count,
  }
}

const SAFE_LENGTH = 15
const MAX_SMALL = 2 ** 52
const PLAIN_INTEGER = /^-?\d+$/

export interface ExactExtreme {
  /** Considers the number that a text denotes; it must be in range. */
  readonly add: (text: string) => void
  /** The extreme with the largest scale of all numbers considered; undefined if there was none. */
  readonly result: () => string | undefined
}

/** The smallest number, or the largest one. */
export function createExactExtreme(isLargest: boolean): ExactExtreme {
  let best: { readonly text: string; readonly decimal: Decimal } | undefined
  let scale = 0
  return {
    add(text) {
      if (text === best?.text) return
      const decimal = parseDecimal(text)!
      scale = Math.max(scale, scaled(text).scale)
      const order = best ? compareDecimal(decimal, best.decimal) : 0
      if (!best || (isLargest ? order > 0 : order < 0)) best = { text, decimal }
    },
    result() {
      const { units, scale: own } = best ? scaled(best.text) : { units: undefined, scale: 0 }
      return units === undefined ? undefined : printScaled(units * 10n ** BigInt(scale - own), scale)
    },
  }
}

/** The average of `count` numbers with this sum. */
export function averageOf(sum: string, count: number): string {
  return quotientOf(scaled(sum), BigInt(count))
}

/** The number without zeros at the end of its fraction. */
export function withoutTrailingZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}

function addScaled(a: Scaled, b: Scaled): Scaled {
  if (a.scale === b.scale) return { units: a.units + b.units, scale: a.scale }
  const scale = Math.max(a.scale, b.scale)
  return { units: raised(a, scale) + raised(b, scale), scale }
}

function raised({ units, scale }: Scaled, to: number): bigint {
  return units * 10n ** BigInt(to - scale)
}

/** Rounded half to even, in plain notation, without zeros at the end of the fraction. */
function quotientOf({ units, scale }: Scaled, count: bigint): string {
  if (units === 0n) return '0'
  const magnitude = units < 0n ? -units : units
  // The quotient has as many digits as the difference of the lengths, or one more.
  let shift = SIGNIFICANT_DIGITS - (String(magnitude).length - String(count).length)
  let rounded = shiftedQuotient(magnitude, count, shift)
  if (rounded.floor >= LIMIT) rounded = shiftedQuotient(magnitude, count, --shift)
  const { floor, isUp } = rounded
  return withoutTrailingZeros(
    printPower((isUp ? floor + 1n : floor) * (units < 0n ? -1n : 1n), shift + scale),
  )
}

const LIMIT = 10n ** BigInt(SIGNIFICANT_DIGITS)

/** `magnitude` × 10^shift ÷ `count`, rounded down, and whether the nearest integer is the next one. */
function shiftedQuotient(magnitude: bigint, count: bigint, shift: number) {
  const dividend = shift > 0 ? magnitude * 10n ** BigInt(shift) : magnitude
  const divisor = shift < 0 ? count * 10n ** BigInt(-shift) : count
  const floor = dividend / divisor
  const twice = 2n * (dividend - floor * divisor)
  return { floor, isUp: twice > divisor || (twice === divisor && floor % 2n === 1n) }
}

/** `units` × 10^-scale, for a scale that may be negative. */
function printPower(units: bigint, scale: number): string {
  return scale < 0 ? String(units * 10n ** BigInt(-scale)) : printScaled(units, scale)
}
