/** Members of JSON objects, as the forms read and change them. */
import type { Json, JsonObject } from '../client/json.ts'

/** The service takes 0 and 1 for booleans too. */
export function isSet(value: Json | undefined): boolean {
  return value === true || value === 1
}

/** A member of a document. Every object of JavaScript has others as well, such as `toString`. */
export function memberOf(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** The object with another value of a member, in its place; undefined removes it. */
export function withMember(object: JsonObject, name: string, value: Json | undefined): JsonObject {
  if (value !== undefined) return { ...object, [name]: value }
  const { [name]: _, ...rest } = object
  return rest
}
