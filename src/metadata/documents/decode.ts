/** Reading metadata documents: a value of the right kind, or a refusal that names its place. */
import { type Code, ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject, member, pointer } from '../../base/json/json.ts'

/** A problem of the document; the place also becomes the context, seen from the schema. */
export function fault(code: Code, message: string, at: string): ServiceError {
  return new ServiceError(code, message, { at, context: at.replace(/^\/schema(?=\/|$)/, '').slice(1) })
}

export function objectAt(value: Json | undefined, at: string): JsonObject {
  if (isObject(value)) return value
  throw fault('metadata:IllFormedMetadata', 'an object is expected here', at)
}

export function listAt(value: Json | undefined, at: string): readonly Json[] {
  if (isArray(value)) return value
  throw fault('metadata:IllFormedMetadata', 'an array is expected here', at)
}

export function textAt(value: Json | undefined, at: string): string {
  if (typeof value === 'string') return value
  throw fault('metadata:IllFormedMetadata', 'a text is expected here', at)
}

export function booleanAt(value: Json | undefined, at: string): boolean {
  if (typeof value === 'boolean') return value
  throw fault('metadata:IllFormedMetadata', 'true or false is expected here', at)
}

export function textsAt(value: Json | undefined, at: string): readonly string[] {
  return listAt(value, at).map((each, i) => textAt(each, pointer(at, i)))
}

/** A member that must be there and must not be blank. */
export function neededText(parent: JsonObject, key: string, at: string): string {
  const value = neededMember(parent, key, at)
  const text = textAt(value, pointer(at, key))
  if (text.trim() === '') throw missing(key, at)
  return text
}

export function neededMember(parent: JsonObject, key: string, at: string): Json {
  const value = member(parent, key)
  if (value === undefined || value === null) throw missing(key, at)
  return value
}

/** What `read` makes of the member, or undefined when there is none. */
export function optional<T>(
  parent: JsonObject,
  key: string,
  { at, read }: { readonly at: string; readonly read: (value: Json, at: string) => T },
): T | undefined {
  const value = member(parent, key)
  return value === undefined ? undefined : read(value, pointer(at, key))
}

/** The members nobody here understands: they are kept and printed back. */
export function otherMembers(parent: JsonObject, known: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(parent).filter(([key]) => !known.includes(key)))
}

function missing(key: string, at: string): ServiceError {
  return fault('metadata:ParseMissingElement', `"${key}" is needed here`, at)
}
