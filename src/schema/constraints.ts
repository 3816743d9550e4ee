/** Checks values in their stored form against constraints. All violations of a document are collected. */
import { type Code, ServiceError } from '../base/errors.ts'
import { type Json, isArray, isNumber, numberText } from '../base/json/json.ts'
import { orderKey } from '../base/decimal.ts'
import { memoized } from '../base/memo.ts'
import { countCodePoints } from '../base/text.ts'
import { type Faults, addFault } from './faults.ts'
import type { Constraints, Field, SimpleField } from './field.ts'
import { compareValues } from './types.ts'

/** Most fields have no constraints. */
export const isConstrained = memoized(({ constraints }: Field) => Object.keys(constraints).length > 0)

/** Loops over the declared constraints only, because most fields have few. */
export function addViolations(
  faults: Faults,
  value: Json,
  field: Field,
  { path, subject, mayListEnum }: Violating,
): void {
  const { constraints } = field
  for (const name in constraints) {
    const check = CHECKS[name as keyof Constraints]
    const message = check?.violated(value, constraints)
    if (message === undefined) continue
    const values = name === 'enum' && mayListEnum?.(field) ? listOf(constraints.enum!.values) : ''
    addFault(
      faults,
      new ServiceError(check!.code, `${subject ?? `"${path}"`} ${message}${values}`, { context: path }),
    )
  }
}

interface Violating {
  readonly path: string
  /** What the message is about; the path when absent. */
  readonly subject?: string | undefined
  /** Whether a message may list the values of an enum, which not every caller may know. */
  readonly mayListEnum?: ((field: Field) => boolean) | undefined
}

/** The first values of an enum; it may have thousands. */
function listOf(values: ReadonlySet<string>): string {
  const named = [...values.values().take(MAX_LISTED)].map((each) => JSON.stringify(clipped(each)))
  const others = values.size - named.length
  return named.length === 0 ? '' : `: ${named.join(', ')}${others === 0 ? '' : ` … and ${others} more`}`
}

function clipped(value: string): string {
  return value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN).toWellFormed()}…` : value
}

const MAX_LISTED = 10
const MAX_SHOWN = 60

/** A fault if the identity repeats: identities are unique in the whole document, across all arrays at their path. */
export function repeatedIdentity(
  value: Json,
  field: SimpleField,
  path: string,
  identitiesByPath: Map<string, Set<string>>,
): ServiceError | undefined {
  const keys = identitiesByPath.get(field.path) ?? new Set()
  identitiesByPath.set(field.path, keys)
  const key = identityKey(value)
  if (!keys.has(key)) {
    keys.add(key)
    return undefined
  }
  const message = `"${path}" repeats an identity that another element has`
  return new ServiceError('crud:DuplicateArrayElementId', message, { context: path })
}

/** The same for all spellings of a number. */
export function identityKey(value: Json): string {
  return isNumber(value) ? `n${orderKey(numberText(value))}` : `t${JSON.stringify(value)}`
}

interface Check {
  readonly code: Code
  /** The message, or undefined when the value is valid. */
  readonly violated: (value: Json, constraints: Constraints) => string | undefined
}

const CHECKS: Partial<Readonly<Record<keyof Constraints, Check>>> = {
  minLength: {
    code: 'crud:TooShort',
    violated: (value, { minLength = 0 }) =>
      lengthOf(value) < minLength ? `must have at least ${minLength} characters` : undefined,
  },
  maxLength: {
    code: 'crud:TooLong',
    violated: (value, { maxLength = Infinity }) =>
      lengthOf(value) > maxLength ? `must have at most ${maxLength} characters` : undefined,
  },
  minimum: {
    code: 'crud:ValueTooSmall',
    violated: (value, { minimum }) =>
      compareValues(value, minimum!) < 0 ? `must be at least ${JSON.stringify(minimum)}` : undefined,
  },
  maximum: {
    code: 'crud:ValueTooLarge',
    violated: (value, { maximum }) =>
      compareValues(value, maximum!) > 0 ? `must be at most ${JSON.stringify(maximum)}` : undefined,
  },
  minItems: {
    code: 'crud:ArrayTooSmall',
    violated: (value, { minItems = 0 }) =>
      isArray(value) && value.length < minItems ? `must have at least ${minItems} elements` : undefined,
  },
  maxItems: {
    code: 'crud:ArrayTooLarge',
    violated: (value, { maxItems = Infinity }) =>
      isArray(value) && value.length > maxItems ? `must have at most ${maxItems} elements` : undefined,
  },
  enum: {
    code: 'crud:InvalidEnum',
    violated: (value, constraints) =>
      typeof value === 'string' && !constraints.enum!.values.has(value)
        ? `must be one of the values of the enum ${constraints.enum!.name}`
        : undefined,
  },
  matches: {
    code: 'crud:InvalidEntity',
    violated: (value, { matches }) =>
      typeof value === 'string' && value !== '' && !matches!.matchesAll(value)
        ? 'must match its pattern'
        : undefined,
  },
}

/** Length counts code points, not UTF-16 units. */
function lengthOf(value: Json): number {
  return typeof value === 'string' ? countCodePoints(value) : 0
}
