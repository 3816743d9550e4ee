/** Checks that a resolved field fits its clause. Error messages name the field as the request does. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, isArray } from '../../base/json/json.ts'
import type { ArrayField } from '../../schema/field.ts'
import { type ListOperand, type Operand, isParameter } from '../operand.ts'
import { isNow, requestTimeOf } from '../../schema/request-time.ts'
import { LOOKS_LIKE, type ValueType } from '../../schema/types.ts'
import type { FieldRef, Scope } from './scope.ts'

export function castValues(values: readonly Json[], ref: FieldRef, at: string): readonly Json[] {
  const place = { at, key: 'values' } as const
  return values.map((value) => (value === null ? null : cast(value, ref, place)))
}

export function castValue(value: Json, ref: FieldRef, at: string): Json {
  return cast(value, ref, { at })
}

interface Place {
  /** Where the field is named. */
  readonly at: string
  /** The member of the query that has the value; absent if the place is that of the value. */
  readonly key?: 'rvalue' | 'values'
}

function cast(value: Json, ref: FieldRef, { at, key }: Place): Json {
  const type = comparedType(ref, at)
  const stored = type.cast(value)
  if (stored !== undefined) return stored
  if (isNow(value) && type.name === 'date' && requestTimeOf(value) === undefined) throw noRequestTime(ref, at)
  const several = isArray(value) && key === 'rvalue' ? '; for several values: "op": "$in", "values": […]' : ''
  const message = `"${ref.path}" is of type ${type.name}; compare it with ${LOOKS_LIKE[type.name]}${several}`
  throw new ServiceError('metadata:IncompatibleValue', message, { at: beside(at, key), context: ref.path })
}

/** A filter has lines and columns in place of pointers, and stays at its field. */
function beside(at: string, key: Place['key']): string {
  return key === undefined ? at : at.replace(/\/(?:field|array)$/, `/${key}`)
}

/** A query in metadata is read without a request, so there is no time that `$now` could stand for. */
function noRequestTime({ path }: FieldRef, at: string): ServiceError {
  const message = `{"$now": true} is the time of a request and stands only in requests; here compare "${path}" with a date or a field, and put the time into the query of the request`
  return new ServiceError('metadata:IncompatibleValue', message, { at, context: path })
}

/** A parameter has no value yet, so it records the type to which its arguments are cast. */
export function castOperand(operand: Operand, ref: FieldRef, at: string): Operand {
  return isParameter(operand)
    ? { ...operand, type: comparedType(ref, at) }
    : cast(operand, ref, { at, key: 'rvalue' })
}

export function castList(operand: ListOperand, ref: FieldRef, at: string): ListOperand {
  return isParameter(operand) ? { ...operand, type: comparedType(ref, at) } : castValues(operand, ref, at)
}

function comparedType({ field, path }: FieldRef, at: string): ValueType {
  if (field.kind === 'simple' && field.type.family !== undefined) return field.type
  throw invalidQuery(`"${path}" can only be compared with null`, at)
}

/** Limits nesting, because every scope is a loop inside the loops of its outer scopes. */
export function requireShallow(scope: Scope, at: string): void {
  let depth = 0
  for (let each: Scope | undefined = scope; each; each = each.outer?.scope) depth++
  if (depth <= MAX_SCOPES) return
  throw new ServiceError('crud:LimitExceeded', `elemMatch may nest at most ${MAX_SCOPES} deep`, { at })
}

const MAX_SCOPES = 10

export function requireText({ field, path }: FieldRef, at: string): void {
  if (field.kind !== 'simple' || field.type.family !== 'text') {
    throw invalidQuery(`"${path}" is not a text, so no pattern can match it`, at)
  }
}

export function requireArray({ field, path }: FieldRef, at: string): ArrayField {
  if (field.kind === 'array') return field
  throw invalidQuery(`"${path}" is not an array`, at)
}

export function invalidQuery(message: string, at: string): ServiceError {
  return new ServiceError('query-api:InvalidQuery', message, { at })
}
