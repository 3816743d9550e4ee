/** Decodes values of metadata documents: a value of the expected type, or an error with its JSON pointer. */
import { type Code, ServiceError } from '../../base/errors.ts'
import { decoders } from '../../base/json/decode.ts'
import { type Json, type JsonObject, member, pointer } from '../../base/json/json.ts'

/** An error in the document. The context is the same pointer, relative to the schema. */
export function fault(code: Code, message: string, at: string): ServiceError {
  return new ServiceError(code, message, { at, context: at.replace(/^\/schema(?=\/|$)/, '').slice(1) })
}

export const {
  object: objectAt,
  array: listAt,
  string: textAt,
  boolean: booleanAt,
} = decoders((message, at) => fault('metadata:IllFormedMetadata', message, at))

export function textsAt(value: Json | undefined, at: string): readonly string[] {
  return listAt(value, at).map((each, i) => textAt(each, pointer(at, i)))
}

/** A required member that must not be blank. */
export function neededText(parent: JsonObject, key: string, at: string): string {
  const value = neededMember(parent, key, at)
  const text = textAt(value, pointer(at, key))
  if (text.trim() === '') throw missing(key, at)
  return text
}

/** A required path to a field, whose name may be blank. */
export function neededPath(parent: JsonObject, key: string, at: string): string {
  const path = textAt(neededMember(parent, key, at), pointer(at, key))
  if (path === '') throw missing(key, at)
  return path
}

export function neededMember(parent: JsonObject, key: string, at: string): Json {
  const value = member(parent, key)
  if (value === undefined || value === null) throw missing(key, at)
  return value
}

/** Applies `read` to the member; undefined when it is absent. */
export function optional<T>(
  parent: JsonObject,
  key: string,
  { at, read }: { readonly at: string; readonly read: (value: Json, at: string) => T },
): T | undefined {
  const value = member(parent, key)
  return value === undefined ? undefined : read(value, pointer(at, key))
}

/** Members without a meaning here: they are stored and printed back. */
export function otherMembers(parent: JsonObject, known: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(parent).filter(([key]) => !known.includes(key)))
}

function missing(key: string, at: string): ServiceError {
  return fault('metadata:ParseMissingElement', `"${key}" is needed here`, at)
}
