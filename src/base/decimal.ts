/** Exact decimal numbers, parsed from text: comparison, addition, and a text key that sorts as the numbers do. */

export interface Decimal {
  readonly negative: boolean
  /** Significant digits without leading or trailing zeros; empty for zero. */
  readonly digits: string
  /** The value is 0.digits × 10^exponent. */
  readonly exponent: number
}

/** Numbers with more digits than this, or a larger exponent, are refused: no engine can store all of them. */
const MAX_DIGITS = 2_000

/** Longer texts are refused without parsing: this leaves room for sign, point and exponent besides the digits. */
const MAX_LENGTH = MAX_DIGITS + 10

/** Makes every exponent positive. Keys are stored in indexes, so this value must never change. */
const KEY_OFFSET = 10_000

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** The value of a JSON number; undefined when the text is not a number or out of range. */
export function parseDecimal(text: string): Decimal | undefined {
  const match = text.length > MAX_LENGTH ? undefined : NUMBER.exec(text)
  if (!match) return undefined
  const [, sign, whole = '', fraction = '', power = '0'] = match
  const all = whole + fraction
  let leading = 0
  while (all[leading] === '0') leading++
  let end = all.length
  while (end > leading && all[end - 1] === '0') end--
  const digits = all.slice(leading, end)
  const exponent = Number(power) + whole.length - (digits === '' ? 0 : leading)
  if (Math.abs(exponent) > MAX_DIGITS || all.length > MAX_DIGITS) return undefined
  if (digits === '') return { negative: false, digits: '', exponent: 0 }
  return { negative: sign === '-', digits, exponent }
}

export function compareDecimal(a: Decimal, b: Decimal): number {
  const signs = signOf(a) - signOf(b)
  if (signs !== 0) return signs
  const magnitude = a.exponent - b.exponent || (a.digits === b.digits ? 0 : a.digits < b.digits ? -1 : 1)
  return a.negative ? -magnitude : magnitude
}

export function isIntegral({ digits, exponent }: Decimal): boolean {
  return digits.length <= exponent || digits === ''
}

/** The digits of an integral decimal, without exponent or fraction. */
export function integerText({ negative, digits, exponent }: Decimal): string {
  if (digits === '') return '0'
  return (negative ? '-' : '') + digits.padEnd(exponent, '0')
}

/**
 * A key whose order by code point is the order of the numbers; equal numbers have equal keys, whatever their scale.
 * It consists of a class (negative, zero, positive), the exponent with an offset, and the digits. For negative numbers
 * exponent and digits are complemented, and a final character above all digits sorts shorter digits after longer ones.
 */
export function orderKey(text: string): string | null {
  const decimal = parseDecimal(text)
  if (!decimal) return null
  if (decimal.digits === '') return '1'
  const exponent = String(decimal.exponent + KEY_OFFSET).padStart(5, '0')
  if (!decimal.negative) return `2${exponent}${decimal.digits}`
  return `0${complement(exponent)}${complement(decimal.digits)}~`
}

function signOf({ digits, negative }: Decimal): number {
  if (digits === '') return 0
  return negative ? -1 : 1
}

function complement(digits: string): string {
  let result = ''
  for (const digit of digits) result += 9 - Number(digit)
  return result
}

/** The exact sum of two number texts in range, with the larger of their scales. */
export function addDecimals(a: string, b: string): string {
  const [x, y] = [scaled(a), scaled(b)]
  const scale = Math.max(x.scale, y.scale)
  const sum = x.units * 10n ** BigInt(scale - x.scale) + y.units * 10n ** BigInt(scale - y.scale)
  return printScaled(sum, scale)
}

/** The value is units × 10^-scale. */
export interface Scaled {
  readonly units: bigint
  /** Digits after the point, never negative. */
  readonly scale: number
}

export function scaled(text: string): Scaled {
  // without this check a large exponent would make `units` take any amount of memory
  if (!parseDecimal(text)) throw new Error('a number to add is out of range')
  const [, sign = '', whole = '', fraction = '', power = '0'] = NUMBER.exec(text)!
  const units = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n)
  const scale = fraction.length - Number(power)
  return scale < 0 ? { units: units * 10n ** BigInt(-scale), scale: 0 } : { units, scale }
}

export function printScaled(units: bigint, scale: number): string {
  if (scale === 0) return String(units)
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
  return `${units < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}
