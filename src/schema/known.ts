/** Removes hidden members, members that this version of the schema does not define, and array sizes from a value. */
import { type Json, type JsonObject, isArray, isObject } from '../base/json/json.ts'
import type { Element, Field, ObjectField } from './field.ts'
import { isOfOtherVersion } from './kind.ts'
import { shownNames } from './member-order.ts'

export function definedPart(value: Json, field: Field, isHidden?: (field: Field) => boolean): Json {
  if (field.kind === 'array' && isArray(value))
    return definedElements(value, field.element).map((each) => definedPart(each, field.element, isHidden))
  if (field.kind !== 'object' || !isObject(value)) return value
  const members: Record<string, Json> = {}
  for (const [name, each, member] of definedMembers(value, field, isHidden))
    members[name] = definedPart(each, member, isHidden)
  return members
}

/** The elements of an array that are part of it. */
export function definedElements(values: readonly Json[], element: Element): readonly Json[] {
  return values.some((each) => isOfOtherVersion(each, element))
    ? values.filter((each) => !isOfOtherVersion(each, element))
    : values
}

/** The members of an object that are part of it, each with its name and its field, in the order in which they are shown. */
export function definedMembers(
  value: JsonObject,
  object: ObjectField,
  isHidden?: (field: Field) => boolean,
): [name: string, value: Json, field: Field][] {
  const members: [string, Json, Field][] = []
  for (const name of shownNames(value, object.shownOrder)) {
    const member = definedMember(value, name, object, isHidden)
    if (member) members.push([name, value[name]!, member])
  }
  return members
}

/** The field of a member, if it is a part of the object. */
export function definedMember(
  value: JsonObject,
  name: string,
  { fields }: ObjectField,
  isHidden?: (field: Field) => boolean,
): Field | undefined {
  const member = name.endsWith('#') ? undefined : fields.get(name)
  return member && !isHidden?.(member) && !isOfOtherVersion(value[name]!, member) ? member : undefined
}
