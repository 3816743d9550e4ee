/** JSON without loss: numbers that JavaScript would change keep the digits they were written with. */

export type Json = null | boolean | number | string | ExactNumber | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}

/** A number as it is written, such as `7100.50`, where `7100.5` would not say the same. */
export class ExactNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): unknown {
    return raw.rawJSON(this.text)
  }

  toString(): string {
    return this.text
  }
}

export const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

export function parseJson(text: string): Json {
  return raw.parse(text, (_, value, context) =>
    typeof value === 'number' && String(value) !== context.source ? new ExactNumber(context.source!) : value,
  )
}

export function printJson(value: unknown, space?: number): string {
  return JSON.stringify(value, undefined, space)
}

export function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  )
}

export function isArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value)
}

export function isNumber(value: unknown): value is number | ExactNumber {
  return typeof value === 'number' || value instanceof ExactNumber
}

/** The number that a text writes, or undefined. */
export function numberIn(text: string): number | ExactNumber | undefined {
  if (!NUMBER.test(text)) return undefined
  const value = Number(text)
  return String(value) === text ? value : new ExactNumber(text)
}

/** A simple value as its text, anything else as JSON. */
export function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value
  return value === undefined ? '' : printJson(value)
}

export function sameJson(a: unknown, b: unknown): boolean {
  return a === b || canonical(a) === canonical(b)
}

function canonical(value: unknown): string | undefined {
  return JSON.stringify(value, (_, each: unknown) =>
    isObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  )
}

interface Context {
  readonly source?: string
}

/** The parts of `JSON` that the type library may not know yet. */
const raw = JSON as unknown as {
  readonly rawJSON: (text: string) => unknown
  readonly parse: (text: string, revive: (key: string, value: Json, context: Context) => Json) => Json
}
