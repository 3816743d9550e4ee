/** Kinds of stored values, by JSON type: versions of an entity may give one path types of different kinds. */
import { type Json, isArray, isNumber, isObject } from '../base/json/json.ts'
import { type Field, isStored } from './field.ts'
import type { TypeName } from './types.ts'

export type Kind = 'boolean' | 'number' | 'text' | 'object' | 'array' | 'any'

export function kindOf(field: Field): Kind {
  if (field.kind === 'simple') return kindOfType(field.type.name)
  return field.kind === 'reference' ? 'any' : field.kind
}

export function kindOfType(type: TypeName): Kind {
  return KINDS[type]
}

/** Whether a value is of the kind; it must not be null. */
export function isOfKind(value: Json, kind: Kind): boolean {
  return TESTS[kind](value)
}

/**
 * Maps a stored value to the value that counts in comparisons and sorts: itself, or undefined when another version
 * stored it with a type of another kind.
 */
export function asCompared(field: Field): (value: Json | undefined) => Json | undefined {
  const matchesKind = TESTS[kindOf(field)]
  return (value) => (value === undefined || value === null || matchesKind(value) ? value : undefined)
}

/**
 * Whether this version does not define a stored value, because another version gave the path another type: an object or
 * array, or anything under the name of a field that stores nothing. Such a value is preserved and not returned, like
 * members of other versions.
 */
export function isOfOtherVersion(value: Json, field: Field): boolean {
  return !isStored(field) || ((isArray(value) || isObject(value)) && !isOfKind(value, kindOf(field)))
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
