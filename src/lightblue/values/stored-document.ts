/** What the two ways to read a stored document, BSON and extended JSON, have in common. */
import { type Json, type JsonObject, isObject } from '../../base/json/json.ts'
import { parseJson } from '../../base/json/parse-json.ts'
import { printDate } from '../../schema/date.ts'
import { ValueError } from '../source-error.ts'

/** Lightblue keeps its document versions and upper-case copies of indexed texts here, at any depth. */
export const HIDDEN_MEMBER = '@mongoHidden'

/**
 * Parses the document once more as if a client had sent it, so that the rules for JSON (no NUL, no `__proto__`, bounded
 * depth) hold for it as well.
 */
export function asSent(document: JsonObject, maxDepth: number): JsonObject {
  const parsed = parseJson(JSON.stringify(document), maxDepth)
  if (isObject(parsed)) return parsed
  throw new ValueError('', 'a document must be an object')
}

export function dateText(date: Date, path: string): string {
  const year = date.getUTCFullYear()
  if (year >= 0 && year <= 9999) return printDate(date)
  throw new ValueError(
    path,
    `the date in "${path}" is not in the years 0 to 9999, the only ones that a date can have`,
  )
}

/** Infinity and NaN, which JSON lacks, are refused. */
export function finiteNumber(text: string, path: string): Json {
  if (JSON_NUMBER.test(text)) return JSON.rawJSON(text)
  throw new ValueError(path, `the number in "${path}" is ${text}, which JSON cannot represent`)
}

export function refusedType(type: string, path: string): ValueError {
  return new ValueError(path, `"${path}" is of the BSON type ${type}, which no field type can hold`)
}

export function memberPath(path: string, name: string | number): string {
  return path === '' ? String(name) : `${path}.${name}`
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
