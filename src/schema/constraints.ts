/** What a value in its stored form violates. All violations of a document are collected, none stops the others. */
import { type Code, ServiceError } from '../base/errors.ts'
import { type Json, isArray, isNumber, numberText } from '../base/json.ts'
import { orderKey } from '../base/decimal.ts'
import type { Constraints, Field, SimpleField } from './field.ts'
import { compareValues } from './types.ts'

export function faultsOf(value: Json, field: Field, path: string): readonly ServiceError[] {
  const faults: ServiceError[] = []
  for (const check of CHECKS) {
    const message = check.violated(value, field.constraints)
    if (message !== undefined)
      faults.push(new ServiceError(check.code, `"${path}" ${message}`, { context: path }))
  }
  return faults
}

/** Element identities are unique in the whole document, across all arrays at their path. */
export function elementFaults(
  value: Json,
  field: SimpleField,
  path: string,
  seen: Map<string, Set<string>>,
): readonly ServiceError[] {
  const keys = seen.get(field.path) ?? new Set()
  seen.set(field.path, keys)
  const key = isNumber(value) ? `n${orderKey(numberText(value))}` : `t${String(value)}`
  if (!keys.has(key)) {
    keys.add(key)
    return []
  }
  const message = `"${path}" repeats an identity that another element has`
  return [new ServiceError('crud:DuplicateArrayElementId', message, { context: path })]
}

interface Check {
  readonly code: Code
  /** What is wrong, or undefined when nothing is. */
  readonly violated: (value: Json, constraints: Constraints) => string | undefined
}

const CHECKS: readonly Check[] = [
  {
    code: 'crud:TooShort',
    violated: (value, { minLength }) =>
      minLength !== undefined && lengthOf(value) < minLength
        ? `must have at least ${minLength} characters`
        : undefined,
  },
  {
    code: 'crud:TooLong',
    violated: (value, { maxLength }) =>
      maxLength !== undefined && lengthOf(value) > maxLength
        ? `must have at most ${maxLength} characters`
        : undefined,
  },
  {
    code: 'crud:ValueTooSmall',
    violated: (value, { minimum }) =>
      minimum !== undefined && compareValues(value, minimum) < 0
        ? `must be at least ${JSON.stringify(minimum)}`
        : undefined,
  },
  {
    code: 'crud:ValueTooLarge',
    violated: (value, { maximum }) =>
      maximum !== undefined && compareValues(value, maximum) > 0
        ? `must be at most ${JSON.stringify(maximum)}`
        : undefined,
  },
  {
    code: 'crud:ArrayTooSmall',
    violated: (value, { minItems }) =>
      minItems !== undefined && isArray(value) && value.length < minItems
        ? `must have at least ${minItems} elements`
        : undefined,
  },
  {
    code: 'crud:ArrayTooLarge',
    violated: (value, { maxItems }) =>
      maxItems !== undefined && isArray(value) && value.length > maxItems
        ? `must have at most ${maxItems} elements`
        : undefined,
  },
  {
    code: 'crud:InvalidEnum',
    violated: (value, constraints) =>
      constraints.enum !== undefined && !constraints.enum.values.has(String(value))
        ? `must be one of the values of the enum ${constraints.enum.name}`
        : undefined,
  },
  {
    code: 'crud:InvalidEntity',
    violated: (value, { matches }) =>
      matches !== undefined && value !== '' && !matches.matchesAll(String(value))
        ? 'must match its pattern'
        : undefined,
  },
]

/** Length counts code points, not UTF-16 units. */
function lengthOf(value: Json): number {
  return typeof value === 'string' ? Array.from(value).length : 0
}
