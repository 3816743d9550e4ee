/** What a new state keeps of the old one without naming it: members of other versions, and members out of sight. */
import { type Json, type JsonObject, isArray, isObject } from '../base/json/json.ts'
import { type Field, type Fields, isNeeded } from './field.ts'
import { isUnseen } from './kind.ts'
import { pairElements } from './pair-elements.ts'

export function carryOver(
  old: Json | undefined,
  fresh: Json,
  field: Field,
  isHidden: (field: Field) => boolean,
): Json {
  if (field.kind === 'object' && isObject(old) && isObject(fresh)) {
    return carryMembers(old, fresh, field.fields, isHidden(field) ? optionalAmong(isHidden) : isHidden)
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
 * Whoever names something out of sight must name all that it needs: were that carried over, it would tell whether it
 * is there.
 */
function optionalAmong(isHidden: (field: Field) => boolean): (field: Field) => boolean {
  return (field) => isHidden(field) && !isNeeded(field)
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
      if (!field || isHidden(field) || isUnseen(old[name]!, field)) result[name] = old[name]!
    } else if (field) result[name] = carryOver(old[name], fresh[name]!, field, isHidden)
  }
  return result
}
