/** Building blocks of shapes. */
import { type Shape, Type } from '../../base/json/shape.ts'

/** An explicit null is the same as an absent key. */
export const optional = (shape: Shape) => Type.Optional(Type.Union([shape, Type.Null()]))
export const text = (description: string) => Type.String({ description })
/** Beyond these bounds a parsed number may differ from the one that was sent. */
export const SAFE = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
export const count = (description: string) => Type.Integer({ description, ...SAFE })
export const claim = (description: string) => Type.Boolean({ description })
export const listed = (shape: Shape) => Type.Union([shape, Type.Array(shape)])
export const document = (description: string) => Type.Object({}, { description })
