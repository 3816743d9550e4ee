/** Separates the members of a document that some version of its entity defines from those that no version knows. */
import { type Json, type JsonObject, isArray, isObject } from '../../base/json/json.ts'
import { spend } from '../../base/work/work.ts'
import { type Field, isVirtual } from '../../schema/field.ts'
import type { Schema } from '../../schema/schema.ts'

interface KnownMembers {
  /** The document without the other members, without array sizes, joined documents and virtual fields. */
  readonly known: JsonObject
  /** Paths of members that no version defines, with indexes. */
  readonly unknown: readonly string[]
}

export function knownMembers(document: JsonObject, schemas: readonly Schema[]): KnownMembers {
  const unknown: string[] = []
  const known = objectIn(
    document,
    schemas.map(({ root }) => root),
    { path: '', unknown },
  )
  return { known, unknown }
}

interface At {
  readonly path: string
  readonly unknown: string[]
}

/** Versions may define different fields under one name: each of them is considered. */
function objectIn(value: JsonObject, fields: readonly Field[], { path, unknown }: At): JsonObject {
  const members: Record<string, Json> = {}
  for (const name of Object.keys(value)) {
    spend(1)
    // the size of an array, which is counted anew
    if (name.endsWith('#')) continue
    const defined = fields.flatMap((field) => (field.kind === 'object' ? (field.fields.get(name) ?? []) : []))
    const at = path === '' ? name : `${path}.${name}`
    if (defined.length === 0) unknown.push(at)
    else if (!defined.every((field) => field.kind === 'reference' || isVirtual(field))) {
      members[name] = valueIn(value[name]!, defined, { path: at, unknown })
    }
  }
  return members
}

function valueIn(value: Json, fields: readonly Field[], { path, unknown }: At): Json {
  // a value of type `any` may have any members
  if (fields.some((field) => field.kind === 'simple')) return value
  if (isObject(value)) return objectIn(value, fields, { path, unknown })
  if (!isArray(value)) return value
  const elements = fields.flatMap((field) => (field.kind === 'array' ? field.element : []))
  if (elements.length === 0) return value
  return value.map((each, i) => valueIn(each, elements, { path: `${path}.${i}`, unknown }))
}
