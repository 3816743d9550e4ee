/** Checks that a resolved field fits its clause. Error messages name the field as the request does. */
import { ServiceError } from '../../base/errors.ts'
import type { Json } from '../../base/json/json.ts'
import type { ArrayField } from '../../schema/field.ts'
import { type ListOperand, type Operand, isParameter } from '../operand.ts'
import { isNow, requestTimeOf } from '../../schema/request-time.ts'
import { LOOKS_LIKE, type ValueType } from '../../schema/types.ts'
import type { FieldRef, Scope } from './scope.ts'

export function castValues(values: readonly Json[], ref: FieldRef, at: string): readonly Json[] {
  return values.map((value) => (value === null ? null : castValue(value, ref, at)))
}

export function castValue(value: Json, ref: FieldRef, at: string): Json {
  const type = comparedType(ref, at)
  const cast = type.cast(value)
  if (cast !== undefined) return cast
  if (isNow(value) && type.name === 'date' && requestTimeOf(value) === undefined) throw noRequestTime(ref, at)
  const message = `"${ref.path}" is of type ${type.name}; compare it with ${LOOKS_LIKE[type.name]}`
  throw new ServiceError('metadata:IncompatibleValue', message, { at, context: ref.path })
}

/** A query in metadata is read without a request, so there is no time that `$now` could stand for. */
function noRequestTime({ path }: FieldRef, at: string): ServiceError {
  const message = `{"$now": true} is the time of a request and stands only in requests; here compare "${path}" with a date or a field, and put the time into the query of the request`
  return new ServiceError('metadata:IncompatibleValue', message, { at, context: path })
}

/** A parameter has no value yet, so it records the type to which its arguments are cast. */
export function castOperand(operand: Operand, ref: FieldRef, at: string): Operand {
  return isParameter(operand) ? { ...operand, type: comparedType(ref, at) } : castValue(operand, ref, at)
}

export function castList(operand: ListOperand, ref: FieldRef, at: string): ListOperand {
  return isParameter(operand) ? { ...operand, type: comparedType(ref, at) } : castValues(operand, ref, at)
}

function comparedType({ field, path }: FieldRef, at: string): ValueType {
  if (field.kind === 'simple' && field.type.family !== undefined) return field.type
  throw invalid(`"${path}" can only be compared with null`, at)
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
    throw invalid(`"${path}" is not a text, so no pattern can match it`, at)
  }
}

export function requireArray({ field, path }: FieldRef, at: string): ArrayField {
  if (field.kind === 'array') return field
  throw invalid(`"${path}" is not an array`, at)
}

export function invalid(message: string, at: string): ServiceError {
  return new ServiceError('query-api:InvalidQuery', message, { at })
}
