/** The form of documents in plain REST: dates as in RFC 3339, and on request numbers as text. */
import { type Json, type JsonObject, isArray, isNumber, isObject, numberText } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { memoized } from '../../base/memo.ts'
import { spend, spendParsing } from '../../base/work/work.ts'
import type { Field, Fields, ObjectField, SimpleField } from '../../schema/field.ts'
import { allFields } from '../../schema/schema.ts'
import type { JsonText } from '../response.ts'

interface Form {
  /** Whether integers beyond ±2^53 and decimals become text. */
  readonly hasNumbersAsText: boolean
}

/**
 * The document in its plain form; the text itself if nothing in it can differ. In `root`, the references whose documents
 * are in the text are arrays of them.
 */
export function plainText(text: JsonText, root: ObjectField, form: Form): JsonText {
  if (!canDiffer(root) && !form.hasNumbersAsText) return text
  spend(text.length >> 3)
  const dates = form.hasNumbersAsText ? undefined : dateMembers(root)
  if (dates) return text.replace(dates, '"$1":"$2-$3-$4T$5Z"')
  spendParsing(text.length)
  return JSON.stringify(plainMembers(parseTrusted(text) as JsonObject, root.fields, form))
}

const canDiffer = memoized((root: ObjectField): boolean =>
  allFields(root.fields).some((field) => isDate(field) || hasDates(field)),
)

/**
 * Finds the members of a document that are dates in its text, which is several times as fast as parsing it. Undefined if
 * the name and the value of a member do not tell whether it is one.
 */
const dateMembers = memoized((root: ObjectField): RegExp | undefined => {
  const fields = [...allFields(root.fields)]
  const names = new Set(fields.filter(isDate).map(({ name }) => name))
  const isAmbiguous = (field: Field): boolean =>
    field.isMixed === true ||
    hasDates(field) ||
    mayHaveObjects(field) ||
    names.has(field.name) !== isDate(field)
  const areNames = [...names].every((name) => /^\w+$/.test(name))
  if (!areNames || fields.some(isAmbiguous)) return undefined
  // The quotes of a member are not escaped; those inside of names and texts are.
  return new RegExp(
    `(?<!\\\\)"(${[...names].join('|')})":"(\\d{4})(\\d\\d)(\\d\\d)T([\\d:.]{12})\\+0000"`,
    'g',
  )
})

/** Values of the type `any` may be objects with members of any name. */
function mayHaveObjects(field: Field): boolean {
  const value = field.kind === 'array' ? field.element : field
  return value.kind === 'simple' && value.type.name === 'any'
}

function hasDates(field: Field): boolean {
  return field.kind === 'array' && isDate(field.element)
}

function isDate(field: Field): boolean {
  return field.kind === 'simple' && field.type.name === 'date'
}

function plainMembers(object: JsonObject, fields: Fields, form: Form): JsonObject {
  const members: Record<string, Json> = {}
  for (const [name, value] of Object.entries(object)) {
    const field = fields.get(name)
    members[name] = field ? plainValue(value, field, form) : value
  }
  return members
}

function plainValue(value: Json, field: Field, form: Form): Json {
  switch (field.kind) {
    case 'simple':
      return plainSimple(value, field, form)
    case 'object':
      return isObject(value) ? plainMembers(value, field.fields, form) : value
    case 'array':
      return isArray(value) ? value.map((each) => plainValue(each, field.element, form)) : value
    case 'reference':
      return value
  }
}

function plainSimple(value: Json, { type }: SimpleField, { hasNumbersAsText }: Form): Json {
  if (type.name === 'date') return typeof value === 'string' ? rfc3339(value) : value
  if (!hasNumbersAsText || !isNumber(value)) return value
  if (type.name === 'bigdecimal') return numberText(value)
  const isWhole = type.name === 'integer' || type.name === 'biginteger'
  return isWhole && isBeyondDoubles(numberText(value)) ? numberText(value) : value
}

/** `20240102T03:04:05.678+0000` → `2024-01-02T03:04:05.678Z` */
function rfc3339(date: string): string {
  return date.replace(STORED_DATE, '$1-$2-$3T$4Z')
}

const STORED_DATE = /^(\d{4})(\d\d)(\d\d)T(.{12})\+0000$/

/** Integers up to 2^53 in magnitude survive in a double. What is no integer is a decimal of another version. */
function isBeyondDoubles(text: string): boolean {
  if (!PLAIN_INTEGER.test(text)) return true
  if (text.length < 16) return false
  const integer = BigInt(text)
  return integer > LARGEST || integer < -LARGEST
}

const PLAIN_INTEGER = /^-?\d+$/
const LARGEST = 2n ** 53n
