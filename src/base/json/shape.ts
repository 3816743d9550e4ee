/**
 * Shapes of JSON as JSON Schema, made once and used twice: requests are checked by them, and the OpenAPI document shows
 * them. Only the few keywords the interface needs. A library that knows all of them took longer to load than everything
 * else together; this one costs nothing.
 */
import { type Json, type JsonObject, isArray, isObject } from './json.ts'

/** A JSON Schema. Whether a member of that shape may be absent is known beside it, as JSON Schema has it. */
export type Shape = JsonObject
type ObjectShape = Shape & { readonly properties: Readonly<Record<string, Shape>> }
type Options = Readonly<Record<string, Json>>

const absentable = new WeakSet<Shape>()

export const Type = {
  Object: (properties: Readonly<Record<string, Shape>>, options: Options = {}): ObjectShape => {
    const required = Object.keys(properties).filter((name) => !absentable.has(properties[name]!))
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
  },
  Array: (items: Shape, options: Options = {}): Shape => ({ type: 'array', items, ...options }),
  Union: (anyOf: readonly Shape[], options: Options = {}): Shape => ({ anyOf, ...options }),
  Enum: (values: readonly string[], options: Options = {}): Shape => ({ enum: values, ...options }),
  Literal: (value: string, options: Options = {}): Shape => ({ const: value, ...options }),
  String: (options: Options = {}): Shape => ({ type: 'string', ...options }),
  Integer: (options: Options = {}): Shape => ({ type: 'integer', ...options }),
  Boolean: (options: Options = {}): Shape => ({ type: 'boolean', ...options }),
  Null: (): Shape => ({ type: 'null' }),
  Unknown: (options: Options = {}): Shape => ({ ...options }),
  /** Inside an object: the member may be absent. */
  Optional: (shape: Shape): Shape => {
    const copy = { ...shape }
    absentable.add(copy)
    return copy
  },
}

export type Check = (value: Json) => boolean

/** Whether a value has the shape, as a closure. */
export function compileShape(shape: Shape): Check {
  const checks = Object.keys(shape).flatMap((keyword) => compileKeyword(keyword, shape) ?? [])
  return (value) => checks.every((check) => check(value))
}

function compileKeyword(keyword: string, shape: Shape): Check | undefined {
  const operand = shape[keyword]!
  switch (keyword) {
    case 'type':
      return IS_TYPE[operand as string]!
    case 'const':
      return (value) => value === operand
    case 'enum':
      return (value) => (operand as readonly Json[]).includes(value)
    case 'anyOf': {
      const choices = (operand as readonly Shape[]).map(compileShape)
      return (value) => choices.some((check) => check(value))
    }
    case 'minimum':
      return (value) => typeof value !== 'number' || value >= (operand as number)
    case 'maximum':
      return (value) => typeof value !== 'number' || value <= (operand as number)
    case 'minItems':
      return (value) => !isArray(value) || value.length >= (operand as number)
    case 'maxItems':
      return (value) => !isArray(value) || value.length <= (operand as number)
    case 'items': {
      const check = compileShape(operand as Shape)
      return (value) => !isArray(value) || value.every(check)
    }
    case 'required':
      return (value) =>
        !isObject(value) || (operand as readonly string[]).every((name) => Object.hasOwn(value, name))
    case 'properties':
      return compileProperties(shape)
    default:
      return undefined
  }
}

/** Every member by its own shape; members without one only where the shape is open. */
function compileProperties({ properties, additionalProperties }: Shape): Check {
  const members = new Map(
    Object.entries(properties as Readonly<Record<string, Shape>>).map(([name, shape]) => [
      name,
      compileShape(shape),
    ]),
  )
  const others: Check = isObject(additionalProperties)
    ? compileShape(additionalProperties)
    : () => additionalProperties !== false
  return (value) => {
    if (!isObject(value)) return true
    for (const name in value) {
      if (!(members.get(name) ?? others)(value[name]!)) return false
    }
    return true
  }
}

const IS_TYPE: Readonly<Record<string, Check>> = {
  object: isObject,
  array: isArray,
  string: (value) => typeof value === 'string',
  integer: (value) => typeof value === 'number' && Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
}
