/**
 * Removes the members that a caller may not read from a document. Later steps then cannot depend on hidden values,
 * because they never receive them.
 */
import { type Json, type JsonObject, isArray, isObject } from '../../base/json/json.ts'
import { spend } from '../../base/work/work.ts'
import type { Field, Fields } from '../../schema/field.ts'

type Strip = (document: JsonObject) => JsonObject

/** Undefined if no field is hidden. The closure returns a copy; the document is not changed. */
export function compileStrip(fields: Fields, isHidden: (field: Field) => boolean): Strip | undefined {
  // Row rules can make each document of a request have another visibility, and so a function of its own.
  spend(fields.size)
  const hidden = new Set<string>()
  const inside = new Map<string, (value: Json) => Json>()
  for (const [name, field] of fields) {
    if (isHidden(field)) {
      hidden.add(name)
      // Another version may have stored an array of this name, with its size.
      if (field.kind === 'reference') hidden.add(`${name}#`)
    } else {
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

/** The names of the hidden members if all are top-level members of the document; otherwise undefined. */
export function hiddenMembers(
  fields: Fields,
  isHidden: (field: Field) => boolean,
): readonly string[] | undefined {
  spend(fields.size)
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
