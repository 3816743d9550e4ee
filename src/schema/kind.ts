/** Kinds of stored values, as JSON tells them apart: versions may give one path types of different kinds. */
import { type Json, isArray, isNumber, isObject } from '../base/json/json.ts'
import type { Field } from './field.ts'
import type { TypeName } from './types.ts'

export type Kind = 'boolean' | 'number' | 'text' | 'object' | 'array' | 'any'

export function kindOf(field: Field): Kind {
  if (field.kind === 'simple') return kindOfType(field.type.name)
  return field.kind === 'reference' ? 'any' : field.kind
}

export function kindOfType(type: TypeName): Kind {
  return KINDS[type]
}

/** Whether a value other than null is of the kind. */
export function isOfKind(value: Json, kind: Kind): boolean {
  return TESTS[kind](value)
}

/**
 * What a stored value counts as where values are compared and sorted: itself, or nothing at all when a version with
 * another type left it there, of a kind that this version's type is not.
 */
export function asCompared(field: Field): (value: Json | undefined) => Json | undefined {
  const isFitting = TESTS[kindOf(field)]
  return (value) => (value === undefined || value === null || isFitting(value) ? value : undefined)
}

/**
 * Whether a stored value has members or elements that this version does not define, since another one gave the path
 * another type: it is kept as members of other versions are, and not shown.
 */
export function isUnseen(value: Json, field: Field): boolean {
  return (isArray(value) || isObject(value)) && !isOfKind(value, kindOf(field))
}

const KINDS: Readonly<Record<TypeName, Kind>> = {
  boolean: 'boolean',
  integer: 'number',
  double: 'number',
  biginteger: 'number',
  bigdecimal: 'number',
  string: 'text',
  uid: 'text',
  date: 'text',
  binary: 'text',
  any: 'any',
}

const TESTS: Readonly<Record<Kind, (value: Json) => boolean>> = {
  boolean: (value) => typeof value === 'boolean',
  number: isNumber,
  text: (value) => typeof value === 'string',
  object: isObject,
  array: isArray,
  any: () => true,
}
