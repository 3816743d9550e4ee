/**
 * Shapes of JSON as JSON Schema. The same shapes validate requests and appear in the OpenAPI document. Only the keywords
 * that the interface needs are supported: a complete library took longer to load than all other modules together.
 */
import { type Json, type JsonObject, isArray, isObject } from './json.ts'

/** A JSON Schema. Whether a member is optional is not part of its shape, but of the object's `required`. */
export type Shape = JsonObject
type ObjectShape = Shape & { readonly properties: Readonly<Record<string, Shape>> }
type Options = Readonly<Record<string, Json>>

const optionalShapes = new WeakSet<Shape>()

export const Type = {
  Object: (properties: Readonly<Record<string, Shape>>, options: Options = {}): ObjectShape => {
    const required = Object.keys(properties).filter((name) => !optionalShapes.has(properties[name]!))
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
  },
  Array: (items: Shape, options: Options = {}): Shape => ({ type: 'array', items, ...options }),
  Union: (anyOf: readonly Shape[], options: Options = {}): Shape => ({ anyOf, ...options }),
  Enum: (values: readonly string[], options: Options = {}): Shape => ({
    type: 'string',
    enum: values,
    ...options,
  }),
  Literal: (value: string, options: Options = {}): Shape => ({ type: 'string', const: value, ...options }),
  String: (options: Options = {}): Shape => ({ type: 'string', ...options }),
  Integer: (options: Options = {}): Shape => ({ type: 'integer', ...options }),
  Boolean: (options: Options = {}): Shape => ({ type: 'boolean', ...options }),
  Null: (): Shape => ({ type: 'null' }),
  Unknown: (options: Options = {}): Shape => ({ ...options }),
  /** For members of `Type.Object`: the member may be absent. */
  Optional: (shape: Shape): Shape => {
    const copy = { ...shape }
    optionalShapes.add(copy)
    return copy
  },
}

export type Check = (value: Json) => boolean

/** Compiles the shape to a check. */
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

/** Members without a shape are allowed unless `additionalProperties` is false or a shape that they violate. */
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
