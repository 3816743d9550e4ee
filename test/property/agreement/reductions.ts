/** Smaller forms of a value: without an element, without a member, or one of its parts in its place. */
import { type Json, isArray, isObject } from '../../../src/base/json/json.ts'

export function* reductions(value: Json): Generator<Json> {
  if (isArray(value)) {
    for (const i of value.keys()) yield value.toSpliced(i, 1)
    for (const [i, each] of value.entries())
      for (const smaller of reductions(each)) yield value.with(i, smaller)
  } else if (isObject(value)) {
    for (const child of Object.values(value)) {
      if (isObject(child)) yield child
      if (isArray(child)) yield* child.filter(isObject)
    }
    for (const key of Object.keys(value)) {
      const { [key]: _, ...rest } = value
      yield rest
    }
    for (const [key, child] of Object.entries(value)) {
      for (const smaller of reductions(child)) yield { ...value, [key]: smaller }
    }
  }
}
