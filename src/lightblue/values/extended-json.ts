/**
 * MongoDB's extended JSON, canonical or relaxed, → JSON as Smalt's field types accept it. Written here and not taken from
 * the package `bson`, whose parser changes the digits of large numbers in the relaxed form.
 */
import { type Json, type JsonObject, isArray, isNumber, isObject, numberText } from '../../base/json/json.ts'
import { parseDate } from '../../schema/date.ts'
import { ValueError } from '../source-error.ts'
import { HIDDEN_MEMBER, asSent, dateText, finiteNumber, memberPath, refusedType } from './stored-document.ts'

/** Throws a ValueError for a value without a form in plain JSON. */
export function extendedToJson(document: JsonObject, maxDepth: number): JsonObject {
  return asSent(objectFrom(document, ''), maxDepth)
}

function objectFrom(document: JsonObject, path: string): JsonObject {
  const entries = Object.entries(document).filter(([name]) => name !== HIDDEN_MEMBER)
  return Object.fromEntries(entries.map(([name, value]) => [name, valueFrom(value, memberPath(path, name))]))
}

function valueFrom(value: Json, path: string): Json {
  if (isArray(value)) return value.map((each, i) => valueFrom(each, memberPath(path, i)))
  if (!isObject(value)) return value
  const [name = '', second] = Object.keys(value)
  if (!name.startsWith('$')) return objectFrom(value, path)
  const read = READERS.get(name)
  const isAlone = second === undefined || PAIRS.has(name)
  if (!read || !isAlone)
    throw new ValueError(path, `"${path}" has the member "${name}", which is not a value of extended JSON`)
  return read(value[name]!, path)
}

/** Values that have a second member, some of them in old versions only. */
const PAIRS: ReadonlySet<string> = new Set(['$binary', '$code', '$ref', '$regex'])

type Read = (value: Json, path: string) => Json

const READERS: ReadonlyMap<string, Read> = new Map([
  ['$oid', textIn(/^[0-9a-f]{24}$/i, 'an ObjectId is 24 hexadecimal digits', (text) => text.toLowerCase())],
  ['$symbol', textIn(/^/, 'a symbol is a text', (text) => text)],
  ['$numberInt', textIn(/^-?\d+$/, 'an integer is digits', finiteNumber)],
  ['$numberLong', textIn(/^-?\d+$/, 'an integer is digits', finiteNumber)],
  ['$numberDouble', textIn(/^/, 'a double is digits', doubleFrom)],
  ['$numberDecimal', textIn(/^/, 'a decimal is digits', finiteNumber)],
  ['$undefined', () => null],
  ['$date', dateFrom],
  ['$binary', binaryFrom],
  ['$uuid', uuidFrom],
  ...['$regularExpression', '$regex', '$timestamp', '$code', '$dbPointer', '$ref', '$minKey', '$maxKey'].map(
    (name): [string, Read] => [name, refused(name)],
  ),
])

function refused(name: string): Read {
  return (_, path) => {
    throw refusedType(name.slice(1), path)
  }
}

function textIn(pattern: RegExp, rule: string, read: (text: string, path: string) => Json): Read {
  return (value, path) => {
    if (typeof value === 'string' && pattern.test(value)) return read(value, path)
    throw new ValueError(path, `"${path}" is not valid extended JSON: ${rule}`)
  }
}

/** `1e400` is a number in JSON, but no double. */
function doubleFrom(text: string, path: string): Json {
  const double = Number(text)
  return Number.isFinite(double) && text.trim() !== '' ? double : finiteNumber(text, path)
}

/** RFC 3339 in the relaxed form, milliseconds since 1970 in the canonical one and in old versions. */
function dateFrom(value: Json, path: string): Json {
  if (typeof value === 'string') {
    // mongoexport of old versions writes offsets without a colon
    const text = parseDate(value.replace(/([+-]\d{2})(\d{2})$/, '$1:$2'))
    if (text !== undefined) return text
    throw new ValueError(path, `the date in "${path}" is not valid; 2024-01-02T03:04:05.678Z would be`)
  }
  const ms = isObject(value) ? value['$numberLong'] : isNumber(value) ? numberText(value) : undefined
  if (typeof ms === 'string' && /^-?\d{1,17}$/.test(ms)) return dateText(new Date(Number(ms)), path)
  throw new ValueError(path, `the date in "${path}" is neither a text nor milliseconds since 1970`)
}

function binaryFrom(value: Json, path: string): Json {
  const base64 = isObject(value) ? value['base64'] : value
  if (typeof base64 === 'string' && Buffer.from(base64, 'base64').toString('base64') === base64) return base64
  throw new ValueError(path, `the binary value in "${path}" is not base64`)
}

/** The same as the binary value that a dump has in its place. */
function uuidFrom(value: Json, path: string): Json {
  const digits = typeof value === 'string' ? value.replaceAll('-', '') : ''
  if (/^[0-9a-f]{32}$/i.test(digits)) return Buffer.from(digits, 'hex').toString('base64')
  throw new ValueError(path, `the UUID in "${path}" is not valid`)
}
