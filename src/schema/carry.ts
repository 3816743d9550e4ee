/** Copies members from the old state of a document that a write cannot name: hidden ones, and those of other versions. */
import { type Json, type JsonObject, isArray, isObject } from '../base/json/json.ts'
import { type Field, type Fields, isMandatory } from './field.ts'
import { isOfOtherVersion } from './kind.ts'
import { pairElements } from './pair-elements.ts'

export function carryOver(
  old: Json | undefined,
  fresh: Json,
  field: Field,
  isHidden: (field: Field) => boolean,
): Json {
  if (field.kind === 'object' && isObject(old) && isObject(fresh)) {
    return carryMembers(old, fresh, field.fields, isHidden(field) ? exceptMandatory(isHidden) : isHidden)
  }
  if (field.kind === 'array' && isArray(old) && isArray(fresh)) {
    const pairs = pairElements(old, fresh, field.element, isHidden)
    return fresh.map((each, i) => {
      const partner = pairs[i]
      return partner === undefined ? each : carryOver(old[partner], each, field.element, isHidden)
    })
  }
  return fresh
}

/**
 * A caller who writes a hidden object must send all its mandatory members: copying them from the old state would reveal
 * whether the object exists.
 */
function exceptMandatory(isHidden: (field: Field) => boolean): (field: Field) => boolean {
  return (field) => isHidden(field) && !isMandatory(field)
}

export function carryMembers(
  old: JsonObject,
  fresh: JsonObject,
  fields: Fields,
  isHidden: (field: Field) => boolean,
): JsonObject {
  const result: Record<string, Json> = { ...fresh }
  for (const name of Object.keys(old)) {
    const field = fields.get(name)
    if (!Object.hasOwn(fresh, name)) {
      if (!field || isHidden(field) || isOfOtherVersion(old[name]!, field)) result[name] = old[name]!
    } else if (field) result[name] = carryOver(old[name], fresh[name]!, field, isHidden)
  }
  return result
}
