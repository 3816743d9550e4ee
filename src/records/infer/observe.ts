/** What the values of one field have in common, observed record by record in bounded memory. */
import { compareDecimal, parseDecimal } from '../../base/decimal.ts'
import { type Json, type JsonObject, isArray, isNumber, isObject, numberText } from '../../base/json/json.ts'

/** The kinds of a single value, from which the type of the field follows. */
export type Kind =
  | 'boolean'
  | 'integer'
  | 'biginteger'
  | 'decimal'
  | 'double'
  | 'date'
  | 'local date'
  | 'text'
  | 'object'
  | 'array'

export interface Observed {
  /** Records, or elements of an array, that have a value here. */
  count: number
  readonly kinds: Set<Kind>
  /** Different values, as long as there are few of them. */
  readonly values: Set<string>
  /** Whether `values` stopped growing. */
  isOverfull: boolean
  isRepeated: boolean
  longest: number
  /** Whether a double would have other digits than one of the numbers. */
  exceedsDouble: boolean
  readonly members: Map<string, Observed>
  /** Members such as `tags#`, which the service computes for arrays, without the mark; where they are not 0. */
  readonly sizes: Set<string>
  elements: Observed | undefined
}

export const NUMBERS: readonly Kind[] = ['integer', 'biginteger', 'decimal', 'double']

/** Records that are looked at. */
export const MAX_RECORDS = 100_000

export function observed(): Observed {
  return {
    count: 0,
    kinds: new Set(),
    values: new Set(),
    isOverfull: false,
    isRepeated: false,
    longest: 0,
    exceedsDouble: false,
    members: new Map(),
    sizes: new Set(),
    elements: undefined,
  }
}

export function observeMembers(at: Observed, document: JsonObject, isText: boolean): void {
  at.count++
  at.kinds.add('object')
  for (const [name, value] of Object.entries(document)) {
    if (name.endsWith('#')) {
      if (!isSizeOfNothing(value)) at.sizes.add(name.slice(0, -1))
      continue
    }
    if (value === null) {
      if (!at.members.has(name)) at.members.set(name, observed())
      continue
    }
    const member = at.members.get(name) ?? observed()
    at.members.set(name, member)
    observe(member, value, isText)
  }
}

/** As the service returns it beside an array that is absent. */
function isSizeOfNothing(value: Json): boolean {
  return value === null || value === '' || value === '0' || (isNumber(value) && numberText(value) === '0')
}

/** `isText`: all simple values are texts, as cells of CSV are. */
function observe(at: Observed, value: Json, isText: boolean): void {
  if (isObject(value)) return observeMembers(at, value, isText)
  at.count++
  if (isArray(value)) {
    at.kinds.add('array')
    at.elements ??= observed()
    // JSON in a cell has types of its own
    for (const element of value) if (element !== null) observe(at.elements, element, false)
    return
  }
  const text = typeof value === 'string' ? value : isNumber(value) ? numberText(value) : String(value)
  const kind = kindOf(value, text, isText)
  at.kinds.add(kind)
  if (NUMBERS.includes(kind) && !at.exceedsDouble) at.exceedsDouble = !fitsDouble(text)
  at.longest = Math.max(at.longest, text.length)
  remember(at, text)
}

function remember(at: Observed, text: string): void {
  if (at.values.has(text)) at.isRepeated = true
  else if (at.values.size >= MAX_RECORDS) at.isOverfull = true
  else at.values.add(text)
}

function kindOf(value: Json, text: string, isText: boolean): Kind {
  if (typeof value === 'boolean') return 'boolean'
  if (isNumber(value)) return numberKind(text) ?? 'text'
  if (isText) {
    if (text === 'true' || text === 'false') return 'boolean'
    const number = numberKind(text)
    if (number !== undefined) return number
  }
  return dateKind(text) ?? 'text'
}

const INTEGER = /^-?(?:0|[1-9]\d*)$/
const DECIMAL = /^-?(?:0|[1-9]\d*)\.\d+$/
const DOUBLE = /^-?(?:0|[1-9]\d*)(?:\.\d+)?[eE][-+]?\d+$/
const LARGEST = 2n ** 63n

/** A leading zero belongs to a code, such as a postal code, and not to a number. No type holds a number out of range. */
function numberKind(text: string): Kind | undefined {
  if (!isShort(text) && parseDecimal(text) === undefined) return undefined
  if (INTEGER.test(text)) {
    const value = BigInt(text.length > 100 ? '0' : text)
    return text.length <= 100 && value < LARGEST && value >= -LARGEST ? 'integer' : 'biginteger'
  }
  if (DECIMAL.test(text)) return 'decimal'
  return DOUBLE.test(text) ? 'double' : undefined
}

function fitsDouble(text: string): boolean {
  if (isShort(text)) return true
  const nearest = parseDecimal(String(Number(text)))
  return nearest !== undefined && compareDecimal(nearest, parseDecimal(text)!) === 0
}

/** A number this short, without an exponent, is in range, and a double has all of its digits. */
function isShort(text: string): boolean {
  return text.length <= 15 && !/[eE]/.test(text)
}

const INSTANT = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,3}0*)?(?:[Zz]|[-+]\d\d:\d\d)$/
const OF_SMALT = /^\d{8}T\d\d:\d\d:\d\d\.\d{3}[-+]\d{4}$/
const LOCAL =
  /^(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})(?:[T ]\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?: ?[APap][Mm])?)?$/

/** Only instants are dates of Smalt; a day without a time zone is none. */
function dateKind(text: string): Kind | undefined {
  if (OF_SMALT.test(text)) return 'date'
  if (INSTANT.test(text)) return text[10] !== ' ' && !Number.isNaN(Date.parse(text)) ? 'date' : 'local date'
  return LOCAL.test(text) ? 'local date' : undefined
}
