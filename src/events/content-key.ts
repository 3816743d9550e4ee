/** Values as watchers see them: equal ones have the same key, and what holds no value at all has none. */
import { orderKey } from '../base/decimal.ts'
import { type Json, isArray, isNumber, isObject, numberText } from '../base/json/json.ts'
import type { Field } from '../schema/field.ts'

/** How values are looked at. */
export interface Reading {
  /** Whether the same elements in another order are another value. */
  readonly isOrdered: boolean
  /** Members that tell elements apart, and are no content. */
  readonly marks: ReadonlySet<Field>
}

/** Undefined below fields of type any: what is there has no definition. */
export type Definition = Field | undefined

/**
 * Empty objects and arrays, and those that hold only such, have no content: whether a projection shows them depends on
 * members beside those that are watched.
 */
export function isHollow(
  value: Json | undefined,
  field: Definition,
  { marks }: Pick<Reading, 'marks'>,
): boolean {
  if (value === undefined) return true
  if (isArray(value)) {
    const element = elementOf(field)
    return value.every((each) => isHollow(each, element, { marks }))
  }
  if (!isObject(value)) return false
  return Object.keys(value).every((name) => {
    const definition = memberOf(field, name)
    return (definition && marks.has(definition)) || isHollow(value[name], definition, { marks })
  })
}

/** Numbers count by their value, whatever their digits. What has no content has no key. */
export function contentKey(value: Json | undefined, field: Definition, reading: Reading): string | undefined {
  if (value === undefined) return undefined
  if (isArray(value)) {
    const element = elementOf(field)
    const keys = value.flatMap((each) => contentKey(each, element, reading) ?? [])
    if (keys.length === 0) return undefined
    return `[${(reading.isOrdered ? keys : keys.sort()).join()}]`
  }
  if (!isObject(value)) return leafKey(value)
  const keys: string[] = []
  let isHollow = true
  for (const name of Object.keys(value).sort()) {
    const definition = memberOf(field, name)
    const key = contentKey(value[name], definition, reading)
    if (key === undefined) continue
    keys.push(`${JSON.stringify(name)}:${key}`)
    if (!definition || !reading.marks.has(definition)) isHollow = false
  }
  return isHollow ? undefined : `{${keys.join()}}`
}

export function elementOf(field: Definition): Definition {
  return field?.kind === 'array' ? field.element : undefined
}

export function memberOf(field: Definition, name: string): Definition {
  return field?.kind === 'object' ? field.fields.get(name) : undefined
}

export function leafKey(value: Json): string {
  if (!isNumber(value)) return JSON.stringify(value)
  const text = numberText(value)
  return `#${orderKey(text) ?? text}`
}
