/**
 * JSON without loss: the values every other module speaks of.
 *
 * Numbers that JavaScript's own number would change (64-bit integers, `1.10`) are kept as the raw numbers of
 * `JSON.rawJSON`, so `JSON.stringify` prints them back digit for digit without any help.
 */

interface RawNumber {
  readonly rawJSON: string
}
export type JsonNumber = number | RawNumber
export type Json = null | boolean | string | JsonNumber | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

declare global {
  interface JSON {
    rawJSON(text: string): RawNumber
    isRawJSON(value: unknown): value is RawNumber
  }
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)
}

export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

export function isNumber(value: Json | undefined): value is JsonNumber {
  return typeof value === 'number' || JSON.isRawJSON(value)
}

/** The member of that name, or undefined: names such as `toString` are not members unless the document has them. */
export function member(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** The digits of a number as they were written. */
export function numberText(value: JsonNumber): string {
  return typeof value === 'number' ? String(value) : value.rawJSON
}

/** Equal as JSON: key order does not matter, digits do (`1.1` is not `1.10`). */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (isArray(a)) return isArray(b) && a.length === b.length && a.every((each, i) => sameJson(each, b[i]))
  if (isNumber(a)) return isNumber(b) && numberText(a) === numberText(b)
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  )
}

/** A copy that shares nothing that could be changed. */
export function cloneJson(value: Json): Json {
  if (isArray(value)) return value.map(cloneJson)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cloneJson(each)]))
}

/** Extends a JSON pointer (RFC 6901) by one step. */
export function pointer(at: string, step: string | number): string {
  return `${at}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`
}
