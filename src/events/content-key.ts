/** Keys that compare values by content: values with equal content have equal keys, values without content have none. */
import { orderKey } from '../base/decimal.ts'
import { type Json, isArray, isNumber, isObject, numberText } from '../base/json/json.ts'
import type { Field } from '../schema/field.ts'

export interface ContentOptions {
  /** Whether the order of array elements is significant. */
  readonly isOrdered: boolean
  /** Members that only identify elements, and do not count as content. */
  readonly identifiers: ReadonlySet<Field>
}

/** Undefined below fields of type any, where values have no definition. */
export type Definition = Field | undefined

/**
 * Empty objects and arrays, also nested ones, have no content: whether they appear in a projection depends on members
 * that are not watched.
 */
export function hasNoContent(
  value: Json | undefined,
  field: Definition,
  { identifiers }: Pick<ContentOptions, 'identifiers'>,
): boolean {
  if (value === undefined) return true
  if (isArray(value)) {
    const element = elementOf(field)
    return value.every((each) => hasNoContent(each, element, { identifiers }))
  }
  if (!isObject(value)) return false
  return Object.keys(value).every((name) => {
    const definition = memberOf(field, name)
    return (
      (definition && identifiers.has(definition)) || hasNoContent(value[name], definition, { identifiers })
    )
  })
}

/** Numbers are compared by value, not by their digits. Undefined for a value without content. */
export function contentKey(
  value: Json | undefined,
  field: Definition,
  options: ContentOptions,
): string | undefined {
  if (value === undefined) return undefined
  if (isArray(value)) {
    const element = elementOf(field)
    const keys = value.flatMap((each) => contentKey(each, element, options) ?? [])
    if (keys.length === 0) return undefined
    return `[${(options.isOrdered ? keys : keys.sort()).join()}]`
  }
  if (!isObject(value)) return leafKey(value)
  const keys: string[] = []
  let hasNoContent = true
  for (const name of Object.keys(value).sort()) {
    const definition = memberOf(field, name)
    const key = contentKey(value[name], definition, options)
    if (key === undefined) continue
    keys.push(`${JSON.stringify(name)}:${key}`)
    if (!definition || !options.identifiers.has(definition)) hasNoContent = false
  }
  return hasNoContent ? undefined : `{${keys.join()}}`
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
