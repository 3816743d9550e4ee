/** Small decoders shared by the parsers of the language: each names the place of what it refuses. */
import { type Code, ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject, pointer } from '../../base/json/json.ts'

/** Decoders that refuse with one code. */
export function decoders(code: Code) {
  const refuse = (message: string, at: string): ServiceError => new ServiceError(code, message, { at })
  return {
    refuse,

    object(value: Json | undefined, at: string, what: string): JsonObject {
      if (isObject(value)) return value
      throw refuse(`${what} must be an object`, at)
    },

    array(value: Json | undefined, at: string, what: string): readonly Json[] {
      if (isArray(value)) return value
      throw refuse(`${what} must be an array`, at)
    },

    text(object: JsonObject, key: string, at: string): string {
      const value = object[key]
      if (typeof value === 'string' && Object.hasOwn(object, key)) return value
      throw refuse(`"${key}" must be a string`, pointer(at, key))
    },

    /** An optional boolean; null counts as absent. */
    flag(object: JsonObject, key: string, at: string): boolean | undefined {
      const value = Object.hasOwn(object, key) ? object[key] : undefined
      if (value === undefined || value === null) return undefined
      if (typeof value === 'boolean') return value
      throw refuse(`"${key}" must be true or false`, pointer(at, key))
    },

    onlyKeys(object: JsonObject, known: readonly string[], at: string): void {
      for (const key of Object.keys(object)) {
        if (!known.includes(key))
          throw refuse(`"${key}" is not known here; known are ${known.join(', ')}`, at)
      }
    },
  }
}
