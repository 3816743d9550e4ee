/** `{"$now": true}` in queries and updates: the time of the request, as the value of a date. */
import { asBoolean } from '../base/json/decode.ts'
import { type Json, isArray, isObject } from '../base/json/json.ts'

/** A symbol, because JSON has none: only a parser that knows the time can attach it. */
const TIME: unique symbol = Symbol('request time')

export function isNow(value: Json): boolean {
  return isObject(value) && asBoolean(value['$now']) === true && Object.keys(value).length === 1
}

/** The value with the time attached wherever `{"$now": true}` stands in it. It is printed, and stored in `any`, as before. */
export function withRequestTime(value: Json, time: () => string): Json {
  if (isArray(value)) return value.map((each) => withRequestTime(each, time))
  if (!isObject(value)) return value
  if (isNow(value)) return { ...value, [TIME]: time() } as Json
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withRequestTime(each, time)]))
}

/** The attached time, in the form in which dates are stored. */
export function requestTimeOf(value: Json): string | undefined {
  return typeof value === 'object' && value !== null && TIME in value ? (value[TIME] as string) : undefined
}
