/** Small decoders for parsers of JSON documents: each returns a value of the right type, or refuses it and names its place. */
import { type Code, ServiceError } from '../errors.ts'
import { type Json, type JsonObject, isArray, isObject, pointer } from './json.ts'

/** Makes the error for a problem at a place, which is a JSON pointer. */
export type Refuse = (message: string, at: string) => ServiceError

export function refuseWith(code: Code): Refuse {
  return (message, at) => new ServiceError(code, message, { at })
}

/** 0 and 1 stand for false and true, as in documents written for Lightblue; undefined for any other value. */
export function asBoolean(value: Json | undefined): boolean | undefined {
  if (typeof value === 'boolean') return value
  return value === 0 || value === 1 ? value === 1 : undefined
}

/** Without `what`, a message names the expected type only; its place says the rest. */
export function decoders(refuse: Refuse) {
  return {
    refuse,

    object: (value: Json | undefined, at: string, what?: string): JsonObject => {
      if (isObject(value)) return value
      throw refuse(expected('an object', what), at)
    },

    array: (value: Json | undefined, at: string, what?: string): readonly Json[] => {
      if (isArray(value)) return value
      throw refuse(expected('an array', what), at)
    },

    string: (value: Json | undefined, at: string): string => {
      if (typeof value === 'string') return value
      throw refuse(expected('a text'), at)
    },

    boolean: (value: Json | undefined, at: string): boolean => {
      const decoded = asBoolean(value)
      if (decoded !== undefined) return decoded
      throw refuse(expected('true or false'), at)
    },

    /** A member that must be a string. */
    text: (object: JsonObject, key: string, at: string): string => {
      const value = object[key]
      if (typeof value === 'string' && Object.hasOwn(object, key)) return value
      throw refuse(`"${key}" must be a string`, pointer(at, key))
    },

    /** An optional boolean member; null counts as absent. */
    flag: (object: JsonObject, key: string, at: string): boolean | undefined => {
      const value = Object.hasOwn(object, key) ? object[key] : undefined
      if (value === undefined || value === null) return undefined
      const decoded = asBoolean(value)
      if (decoded !== undefined) return decoded
      throw refuse(`"${key}" must be true or false`, pointer(at, key))
    },

    onlyKeys: (object: JsonObject, known: readonly string[], at: string): void => {
      for (const key of Object.keys(object)) {
        if (!known.includes(key))
          throw refuse(`"${key}" is not known here; known are ${known.join(', ')}`, at)
      }
    },
  }
}

function expected(type: string, what?: string): string {
  return what === undefined ? `${type} is expected here` : `${what} must be ${type}`
}
