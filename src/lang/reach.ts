/** Which fields of a schema a projection can let out, whatever the document. */
import { isIndex } from '../base/path.ts'
import type { Path } from '../base/path.ts'
import type { Field } from '../schema/field.ts'
import type { Projection } from './projection.ts'
import type { FieldRef } from './resolve.ts'

export function includes(projection: Projection<FieldRef>, field: Field): boolean {
  const element = field.kind === 'array' ? [...stepsOf(field.path), '*'] : stepsOf(field.path)
  return reaches(projection, element)
}

function reaches(projection: Projection<FieldRef>, path: Path): boolean {
  for (const item of projection.toReversed()) {
    const rest = path.slice(item.pattern.length)
    const isBelow =
      path.length >= item.pattern.length && fits(item.pattern, path.slice(0, item.pattern.length))
    if (!isBelow) continue
    if (item.kind !== 'field') {
      if (rest.length === 0) continue
      return rest.length === 1 || reaches(item.projection, rest.slice(1))
    }
    if (rest.length > 0 && !item.recursive) continue
    // An exclusion of one position of an array leaves the others.
    if (!item.include && item.pattern.some((step) => typeof step === 'number')) continue
    return item.include
  }
  return false
}

function fits(pattern: Path, path: Path): boolean {
  return pattern.every(
    (step, i) => step === '*' || step === path[i] || (typeof step === 'number' && path[i] === '*'),
  )
}

function stepsOf(path: string): Path {
  return path.split('.').map((step) => (isIndex(step) ? Number(step) : step))
}
