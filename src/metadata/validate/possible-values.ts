/**
 * Finds values of the service that can never fulfil the constraints of their field. What only some generated values would
 * violate is no fault: the next number of a sequence, or the name of the next caller, may do.
 */
import { compareDecimal, parseDecimal } from '../../base/decimal.ts'
import { type Json, type JsonNumber, isArray, isNumber, numberText } from '../../base/json/json.ts'
import { addViolations } from '../../schema/constraints.ts'
import { parseDate, printDate } from '../../schema/date.ts'
import { startFaults } from '../../schema/faults.ts'
import type { ArrayField, Field, SimpleField } from '../../schema/field.ts'

/** The problem with the generator of the field, or with the UUIDs of a uid; undefined if a value may be possible. */
export function generatorProblem(field: SimpleField): string | undefined {
  const values = valuesFor(field)
  const problem = values && (rangeProblem(values, field) ?? enumProblem(values, field))
  return problem && `${values.by} generates ${problem}, so no value is possible`
}

/** The constraint that the default of the field violates, also in one of its elements. */
export function defaultProblem(field: SimpleField | ArrayField): string | undefined {
  const { default: initial } = field
  if (initial === undefined) return undefined
  const own = violation(initial, field, 'default')
  if (own !== undefined || field.kind === 'simple' || !isArray(initial)) return own
  for (const [i, each] of initial.entries()) {
    const problem = each === null ? undefined : violation(each, field.element, `default.${i}`)
    if (problem !== undefined) return problem
  }
  return undefined
}

function violation(value: Json, field: Field, name: string): string | undefined {
  const faults = startFaults({ perDocument: 1, left: 1 })
  addViolations(faults, value, field, { path: name })
  return faults.reported[0]?.message
}

/** All values that a generator may make. */
interface GeneratedValues {
  readonly by: string
  readonly kind: string
  /** How many characters they have as texts. */
  readonly length: Range<number>
  readonly numbers?: Range<bigint>
  readonly includes: (text: string) => boolean
}

interface Range<T> {
  readonly least: T
  readonly most: T
}

/** Undefined for CurrentUser, because any text may be the name of a caller. */
function valuesFor({ type, generator }: SimpleField): GeneratedValues | undefined {
  switch (generator?.type ?? (type.name === 'uid' ? 'UUID' : undefined)) {
    case 'UUID': {
      const by = generator ? 'UUID' : 'the type uid'
      return { by, kind: 'UUIDs', length: always(UUID_LENGTH), includes: (text) => UUID.test(text) }
    }
    case 'CurrentTime': {
      const includes = (text: string): boolean => parseDate(text) === text
      return { by: 'CurrentTime', kind: 'dates', length: always(DATE_LENGTH), includes }
    }
    case 'IntSequence':
      return type.name === 'double' ? SAFE_NUMBERS : LONG_NUMBERS
    case 'CurrentUser':
    case undefined:
      return undefined
  }
}

/** Of version 4, as the service makes them. */
const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
const UUID_LENGTH = 36
const DATE_LENGTH = printDate(new Date(0)).length

/**
 * Any of the integers that the type can tell apart: fields may share a sequence, and it begins where the first of them says,
 * in another entity perhaps, or in one that is no longer there.
 */
function numbersOf(numbers: Range<bigint>): GeneratedValues {
  return {
    by: 'IntSequence',
    kind: 'integers',
    length: { least: 1, most: String(numbers.least).length },
    numbers,
    includes: (text) =>
      /^(?:0|-?[1-9]\d{0,18})$/.test(text) && BigInt(text) >= numbers.least && BigInt(text) <= numbers.most,
  }
}

const SAFE_NUMBERS = numbersOf({
  least: BigInt(Number.MIN_SAFE_INTEGER),
  most: BigInt(Number.MAX_SAFE_INTEGER),
})
const LONG_NUMBERS = numbersOf({ least: -(2n ** 63n), most: 2n ** 63n - 1n })

function always(length: number): Range<number> {
  return { least: length, most: length }
}

function rangeProblem(
  { kind, length, numbers }: GeneratedValues,
  { constraints }: SimpleField,
): string | undefined {
  const { minLength = 0, maxLength = Infinity } = constraints
  const characters = length.least === length.most ? '' : ` to ${length.most}`
  const lengthy = `${kind}, which have ${length.least}${characters} characters`
  if (length.most < minLength) return `${lengthy}, and "minLength" is ${minLength}`
  if (length.least > maxLength) return `${lengthy}, and "maxLength" is ${maxLength}`
  if (!numbers) return undefined
  const { minimum, maximum } = constraints
  if (isNumber(minimum) && compare(minimum, numbers.most) > 0) {
    return `${kind}, at most ${numbers.most}, and "minimum" is ${numberText(minimum)}`
  }
  if (isNumber(maximum) && compare(maximum, numbers.least) < 0) {
    return `${kind}, at least ${numbers.least}, and "maximum" is ${numberText(maximum)}`
  }
  return undefined
}

function compare(bound: JsonNumber, number: bigint): number {
  return compareDecimal(parseDecimal(numberText(bound))!, parseDecimal(String(number))!)
}

/** A value of the enum has to fulfil the other constraints too. */
function enumProblem({ kind, includes }: GeneratedValues, field: SimpleField): string | undefined {
  const { enum: listed } = field.constraints
  if (!listed) return undefined
  for (const each of listed.values) {
    if (includes(each) && violation(each, field, '') === undefined) return undefined
  }
  return `${kind}, and no value of the enum ${listed.name} can be one of them`
}
