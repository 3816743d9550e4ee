/**
 * A document without the members that somebody may not see, as if it had never had them: whatever is then made of it
 * can depend on nothing else.
 */
import { type Json, type JsonObject, isArray, isObject } from '../../base/json/json.ts'
import type { Field, Fields } from '../../schema/field.ts'

type Strip = (document: JsonObject) => JsonObject

/** Undefined when nothing is hidden. The document itself stays as it is. */
export function compileStrip(fields: Fields, isHidden: (field: Field) => boolean): Strip | undefined {
  const hidden = new Set<string>()
  const inside = new Map<string, (value: Json) => Json>()
  for (const [name, field] of fields) {
    if (isHidden(field)) hidden.add(name)
    else {
      const strip = stripInside(field, isHidden)
      if (strip) inside.set(name, strip)
    }
  }
  if (hidden.size === 0 && inside.size === 0) return undefined
  return (document) => {
    const rest: Record<string, Json> = {}
    for (const name of Object.keys(document)) {
      if (hidden.has(name)) continue
      const value = document[name]!
      rest[name] = inside.get(name)?.(value) ?? value
    }
    return rest
  }
}

/** The names of the hidden members, when they are members of the document itself; undefined when some lie deeper. */
export function hiddenMembers(
  fields: Fields,
  isHidden: (field: Field) => boolean,
): readonly string[] | undefined {
  const shown = [...fields.values()].filter((field) => !isHidden(field))
  if (shown.some((field) => stripInside(field, isHidden))) return undefined
  return [...fields].filter(([, field]) => isHidden(field)).map(([name]) => name)
}

function stripInside(field: Field, isHidden: (field: Field) => boolean): ((value: Json) => Json) | undefined {
  if (field.kind === 'object') {
    const strip = compileStrip(field.fields, isHidden)
    return strip && ((value) => (isObject(value) ? strip(value) : value))
  }
  if (field.kind !== 'array') return undefined
  const strip = stripInside(field.element, isHidden)
  return strip && ((value) => (isArray(value) ? value.map(strip) : value))
}
