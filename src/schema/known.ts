/** Removes hidden members, members that this version of the schema does not define, and array sizes from a value. */
import { type Json, isArray, isObject } from '../base/json/json.ts'
import type { Field } from './field.ts'
import { isOfOtherVersion } from './kind.ts'

export function definedPart(value: Json, field: Field, isHidden?: (field: Field) => boolean): Json {
  if (field.kind === 'array' && isArray(value))
    return value
      .filter((each) => !isOfOtherVersion(each, field.element))
      .map((each) => definedPart(each, field.element, isHidden))
  if (field.kind !== 'object' || !isObject(value)) return value
  const members: Record<string, Json> = {}
  for (const name of Object.keys(value)) {
    const member = name.endsWith('#') ? undefined : field.fields.get(name)
    if (member && !isHidden?.(member) && !isOfOtherVersion(value[name]!, member))
      members[name] = definedPart(value[name]!, member, isHidden)
  }
  return members
}
