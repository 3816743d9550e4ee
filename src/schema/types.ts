/** Value types: the values that each accepts without loss, their stored form, and their order. */
import { compareDecimal, integerText, isIntegral, parseDecimal } from '../base/decimal.ts'
import { type Json, type JsonNumber, isArray, isNumber, isObject, numberText } from '../base/json/json.ts'
import { numberFrom } from '../base/json/parse-trusted.ts'
import { compareText } from '../base/text.ts'
import { parseDate } from './date.ts'
import { requestTimeOf } from './request-time.ts'

export type TypeName =
  | 'boolean'
  | 'integer'
  | 'double'
  | 'biginteger'
  | 'bigdecimal'
  | 'string'
  | 'date'
  | 'binary'
  | 'uid'
  | 'any'

export interface ValueType {
  readonly name: TypeName
  /** Values of one family can be compared with each other; types without a family only with null. */
  readonly family?: 'boolean' | 'number' | 'text' | 'date'
  /** The stored form of a non-null value, or undefined when the cast would lose information. */
  readonly cast: (value: Json) => Json | undefined
}

export const TYPES: Readonly<Record<TypeName, ValueType>> = {
  boolean: { name: 'boolean', family: 'boolean', cast: toBoolean },
  integer: { name: 'integer', family: 'number', cast: toInteger },
  double: { name: 'double', family: 'number', cast: toDouble },
  biginteger: { name: 'biginteger', family: 'number', cast: toBigInteger },
  bigdecimal: { name: 'bigdecimal', family: 'number', cast: toDecimal },
  string: { name: 'string', family: 'text', cast: toText },
  date: { name: 'date', family: 'date', cast: toDate },
  binary: { name: 'binary', cast: toBinary },
  uid: { name: 'uid', family: 'text', cast: toText },
  any: { name: 'any', cast: (value) => (hasSupportedNumbers(value) ? value : undefined) },
}

/** Completes a message about a value of another type. */
export const LOOKS_LIKE: Readonly<Record<TypeName, string>> = {
  boolean: 'true or false',
  integer: 'an integer of 64 bits, such as 42',
  double: 'a number, such as 1.5',
  biginteger: 'an integer, such as 42',
  bigdecimal: 'a number, such as 7100.50',
  string: 'a text, such as "Bern"',
  date: 'a date, such as "2024-01-02T03:04:05.678Z" or "20240102T03:04:05.678+0000"',
  binary: 'a text in base64, such as "U21hbHQ="',
  uid: 'a text, such as "0198f1c2-7c3e-7000-8000-000000000001"',
  any: 'any value',
}

export function isTypeName(name: string): name is TypeName {
  return Object.hasOwn(TYPES, name)
}

/** Orders non-null stored values of one kind; across kinds any consistent order will do. */
export function compareValues(a: Json, b: Json): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  const x = numeric(a)
  const y = numeric(b)
  if (x !== undefined && y !== undefined) return compareNumbers(x, y)
  return (x === undefined ? 1 : 0) - (y === undefined ? 1 : 0)
}

function numeric(value: Json): JsonNumber | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0
  return isNumber(value) ? value : undefined
}

function compareNumbers(a: JsonNumber, b: JsonNumber): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return compareDecimal(parseDecimal(numberText(a))!, parseDecimal(numberText(b))!)
}

function toBoolean(value: Json): Json | undefined {
  if (typeof value === 'boolean') return value
  if (value === 'true') return true
  return value === 'false' ? false : undefined
}

function toInteger(value: Json): Json | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value === 0 ? 0 : value
  const text = integralText(value)
  if (text === undefined || text.length > 20) return undefined
  return BigInt.asIntN(64, BigInt(text)) === BigInt(text) ? numberFrom(text) : undefined
}

function toBigInteger(value: Json): Json | undefined {
  const text = integralText(value)
  if (text === undefined) return undefined
  return isNumber(value) && numberText(value) === text ? value : numberFrom(text)
}

/** The digits of an integral number, or of a text that is an integer without exponent or fraction. */
function integralText(value: Json): string | undefined {
  if (typeof value === 'string') return PLAIN_INTEGER.test(value) ? boundedInteger(value) : undefined
  if (!isNumber(value)) return undefined
  return boundedInteger(numberText(value))
}

function boundedInteger(text: string): string | undefined {
  const decimal = parseDecimal(text)
  return decimal && isIntegral(decimal) ? integerText(decimal) : undefined
}

function toDouble(value: Json): Json | undefined {
  if (typeof value === 'string' && !JSON_NUMBER.test(value)) return undefined
  if (typeof value !== 'string' && !isNumber(value)) return undefined
  const double = Number(typeof value === 'string' ? value : numberText(value))
  if (!Number.isFinite(double)) return undefined
  if (double === 0) return 0
  // Above 2^53 the shortest digits of a double denote another integer; with an exponent every parser reads the double.
  const looksLikeInteger = Number.isInteger(double) && !Number.isSafeInteger(double)
  return looksLikeInteger ? numberFrom(double.toExponential()) : double
}

function toDecimal(value: Json): Json | undefined {
  if (typeof value === 'string' && !JSON_NUMBER.test(value)) return undefined
  if (typeof value !== 'string' && !isNumber(value)) return undefined
  const text = typeof value === 'string' ? value : numberText(value)
  if (parseDecimal(text) === undefined) return undefined
  return typeof value === 'string' ? numberFrom(text) : value
}

function toText(value: Json): Json | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return String(value)
  return isNumber(value) ? numberText(value) : undefined
}

function toDate(value: Json): Json | undefined {
  return typeof value === 'string' ? parseDate(value) : requestTimeOf(value)
}

function toBinary(value: Json): Json | undefined {
  if (typeof value !== 'string') return undefined
  return Buffer.from(value, 'base64').toString('base64') === value ? value : undefined
}

/** Whether every store can represent every number in the value. */
function hasSupportedNumbers(value: Json): boolean {
  if (isArray(value)) return value.every(hasSupportedNumbers)
  if (isObject(value)) return Object.values(value).every(hasSupportedNumbers)
  return !isNumber(value) || typeof value === 'number' || parseDecimal(numberText(value)) !== undefined
}

const PLAIN_INTEGER = /^-?(?:0|[1-9]\d*)$/
export const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
