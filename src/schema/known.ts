/** A value without what this version of the schema does not define, and without the sizes of its arrays. */
import { type Json, isArray, isObject } from '../base/json/json.ts'
import type { Field } from './field.ts'
import { isUnseen } from './kind.ts'

export function knownPart(value: Json, field: Field, isHidden?: (field: Field) => boolean): Json {
  if (field.kind === 'array' && isArray(value))
    return value
      .filter((each) => !isUnseen(each, field.element))
      .map((each) => knownPart(each, field.element, isHidden))
  if (field.kind !== 'object' || !isObject(value)) return value
  const members: Record<string, Json> = {}
  for (const name of Object.keys(value)) {
    const member = name.endsWith('#') ? undefined : field.fields.get(name)
    if (member && !isHidden?.(member) && !isUnseen(value[name]!, member))
      members[name] = knownPart(value[name]!, member, isHidden)
  }
  return members
}
