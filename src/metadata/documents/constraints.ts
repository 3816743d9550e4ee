/**
 * Parses the constraints of a field: the known constraints, the types they apply to, and their valid values.
 */
import { compareDecimal, integerText, isIntegral, parseDecimal } from '../../base/decimal.ts'
import { DEFAULT_LIMITS } from '../../base/limits.ts'
import {
  type Json,
  type JsonNumber,
  type JsonObject,
  isNumber,
  numberText,
  pointer,
} from '../../base/json/json.ts'
import { NO_FLAGS, compilePattern } from '../../base/pattern.ts'
import type { Constraints } from '../../schema/field.ts'
import { booleanAt, fault, objectAt, textAt } from './decode.ts'

export interface ConstraintsDocument {
  /** As the document writes them, digit for digit; 0 and 1 in place of a boolean are the boolean. */
  readonly written: JsonObject
  readonly checked: Omit<Constraints, 'enum'>
  readonly enumName: string | undefined
}

/** The field that the constraints belong to. */
interface Subject {
  readonly type: string
  /** Whether the value is computed on read; callers do not write it, so a constraint would have no effect. */
  readonly isVirtual: boolean
  /** Whether an array is on the path to the field. */
  readonly isInArray: boolean
  /** Whether the field is itself the element of an array. */
  readonly isElement: boolean
}

export const NO_CONSTRAINTS: ConstraintsDocument = { written: {}, checked: {}, enumName: undefined }

export function parseConstraints(value: Json | undefined, at: string, subject: Subject): ConstraintsDocument {
  if (value === undefined) return NO_CONSTRAINTS
  const written: Record<string, Json> = {}
  let checked: Parsed = {}
  for (const [name, each] of Object.entries(objectAt(value, at))) {
    const place = pointer(at, name)
    const rule = Object.hasOwn(RULES, name) ? RULES[name] : undefined
    if (!rule) throw fault('metadata:InvalidConstraint', `there is no constraint "${name}"`, place)
    if (subject.isVirtual || !rule.appliesTo(subject)) {
      throw fault('metadata:InvalidConstraint', `"${name}" cannot apply here: it is for ${rule.isFor}`, place)
    }
    checked = { ...checked, ...rule.read(each, place) }
    written[name] = rule.isClaim ? booleanAt(each, place) : each
  }
  refuseEmptyRanges(checked, at)
  const { enumName, ...rest } = checked
  return { written, checked: rest, enumName }
}

type Parsed = Omit<Constraints, 'enum'> & { readonly enumName?: string }

interface Rule {
  readonly isFor: string
  /** Whether the value is a boolean. */
  readonly isClaim?: true
  readonly appliesTo: (subject: Subject) => boolean
  readonly read: (value: Json, at: string) => Parsed
}

const NUMBERS = new Set(['integer', 'double', 'biginteger', 'bigdecimal'])
const TEXTS = new Set(['string', 'uid'])
/** Types whose values cannot be compared, and containers. */
const NO_IDENTITY = new Set(['any', 'binary', 'object', 'array', 'reference'])

const onText = { isFor: 'string and uid', appliesTo: ({ type }: Subject) => TEXTS.has(type) }
const onNumber = { isFor: 'numbers', appliesTo: ({ type }: Subject) => NUMBERS.has(type) }
const onArray = { isFor: 'arrays', appliesTo: ({ type }: Subject) => type === 'array' }

const RULES: Readonly<Record<string, Rule>> = {
  required: {
    isClaim: true,
    isFor: 'stored fields that are no references',
    appliesTo: ({ type }) => type !== 'reference',
    read: (value, at) => ({ required: booleanAt(value, at) }),
  },
  identity: {
    isClaim: true,
    isFor: 'simple, comparable fields outside arrays',
    appliesTo: ({ type, isInArray }) => !isInArray && !NO_IDENTITY.has(type),
    read: (value, at) => ({ identity: booleanAt(value, at) }),
  },
  'element-identity': {
    isClaim: true,
    isFor: 'simple, comparable fields of objects in arrays',
    appliesTo: ({ type, isInArray, isElement }) => isInArray && !isElement && !NO_IDENTITY.has(type),
    read: (value, at) => ({ elementIdentity: booleanAt(value, at) }),
  },
  minLength: { ...onText, read: (value, at) => ({ minLength: countAt(value, at) }) },
  maxLength: { ...onText, read: (value, at) => ({ maxLength: countAt(value, at) }) },
  minimum: { ...onNumber, read: (value, at) => ({ minimum: boundAt(value, at) }) },
  maximum: { ...onNumber, read: (value, at) => ({ maximum: boundAt(value, at) }) },
  minItems: { ...onArray, read: (value, at) => ({ minItems: countAt(value, at) }) },
  maxItems: { ...onArray, read: (value, at) => ({ maxItems: countAt(value, at) }) },
  enum: { ...onText, read: (value, at) => ({ enumName: textAt(value, at) }) },
  matches: { ...onText, read: (value, at) => ({ matches: patternAt(value, at) }) },
}

export const CONSTRAINT_NAMES: readonly string[] = Object.keys(RULES)

function countAt(value: Json, at: string): number {
  const decimal = isNumber(value) ? parseDecimal(numberText(value)) : undefined
  const count = decimal && isIntegral(decimal) ? Number(integerText(decimal)) : Number.NaN
  if (Number.isSafeInteger(count) && count >= 0) return count
  throw fault(
    'metadata:IllFormedMetadata',
    'a whole number that is not negative is expected here, such as 10',
    at,
  )
}

function boundAt(value: Json, at: string): JsonNumber {
  if (isNumber(value) && parseDecimal(numberText(value))) return value
  throw fault('metadata:IllFormedMetadata', 'a number is expected here, such as 0.5', at)
}

function patternAt(value: Json, at: string): NonNullable<Constraints['matches']> {
  const source = textAt(value, at)
  const longest = DEFAULT_LIMITS.patternLength
  if (source.length > longest) {
    throw fault('metadata:IllFormedMetadata', `a pattern has at most ${longest} characters`, at)
  }
  const pattern = compilePattern(source, NO_FLAGS)
  if (pattern) return pattern
  throw fault(
    'metadata:IllFormedMetadata',
    'this is no pattern in RE2 syntax; a valid one is "[A-Z]{3}-[0-9]+"',
    at,
  )
}

function refuseEmptyRanges(constraints: Parsed, at: string): void {
  const { minLength = 0, maxLength = Infinity, minItems = 0, maxItems = Infinity } = constraints
  if (minLength > maxLength) throw emptyRange('minLength', 'maxLength', at)
  if (minItems > maxItems) throw emptyRange('minItems', 'maxItems', at)
  const { minimum, maximum } = constraints
  if (!isNumber(minimum) || !isNumber(maximum)) return
  const order = compareDecimal(parseDecimal(numberText(minimum))!, parseDecimal(numberText(maximum))!)
  if (order > 0) throw emptyRange('minimum', 'maximum', at)
}

function emptyRange(least: string, most: string, at: string): Error {
  return fault('metadata:InvalidConstraint', `"${least}" is greater than "${most}", so no value would do`, at)
}
