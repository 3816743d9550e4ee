/** Building blocks of shapes. */
import { type Shape, Type } from '../../base/json/shape.ts'

/** An explicit null is the same as an absent key. */
export const optional = (shape: Shape) => Type.Optional(Type.Union([shape, Type.Null()]))
export const text = (description: string) => Type.String({ description })
/** Beyond these bounds a parsed number may differ from the one that was sent. */
export const SAFE = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
export const count = (description: string) => Type.Integer({ description, ...SAFE })
export const claim = (description: string) => Type.Boolean({ description })
/** A boolean of a request, where 0 and 1 stand for false and true. */
export const flag = (description: string) =>
  Type.Union([Type.Boolean(), Type.Integer({ minimum: 0, maximum: 1 })], { description })
export const listed = (shape: Shape) => Type.Union([shape, Type.Array(shape)])
export const document = (description: string) => Type.Object({}, { additionalProperties: true, description })
/**
 * The shape of an object without these members. `additionalProperties` says the same to a validator, but compilers accept
 * a member of one form of a union in every other one.
 */
export const refusing = (shape: Shape, names: readonly string[]): Shape => {
  const refused = Object.fromEntries(names.map((name) => [name, false]))
  return { ...shape, properties: { ...(shape['properties'] as Shape), ...refused } }
}
/** A component of the OpenAPI document. */
export const component = (name: string): Shape => ({ $ref: `#/components/schemas/${name}` })
