/** A value without the members that this version of the schema does not define. */
import { type Json, isArray, isObject } from '../base/json.ts'
import type { Field } from './field.ts'

export function knownPart(value: Json, field: Field): Json {
  if (field.kind === 'array' && isArray(value)) return value.map((each) => knownPart(each, field.element))
  if (field.kind !== 'object' || !isObject(value)) return value
  const members: Record<string, Json> = {}
  for (const name of Object.keys(value)) {
    const member = field.fields.get(name)
    if (member) members[name] = knownPart(value[name]!, member)
  }
  return members
}
