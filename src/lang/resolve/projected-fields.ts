/** Which fields of a schema a projection can let out, whatever the document. */
import { isIndex } from '../../base/path.ts'
import type { Path } from '../../base/path.ts'
import type { Field } from '../../schema/field.ts'
import type { Projection } from '../projection.ts'
import type { FieldRef } from './scope.ts'

export function includes(projection: Projection<FieldRef>, field: Field): boolean {
  const element = field.kind === 'array' ? [...stepsOf(field.path), '*'] : stepsOf(field.path)
  return reaches(projection, element)
}

function reaches(projection: Projection<FieldRef>, path: Path): boolean {
  for (const [i, item] of [...projection.entries()].toReversed()) {
    if (!overlaps(item.pattern, path)) continue
    const rest = path.slice(item.pattern.length)
    if (item.kind !== 'field') {
      if (rest.length === 0 || item.pattern.length > path.length) continue
      if (rest.length === 1 || reaches(item.projection, rest.slice(1))) return true
      const element = path.slice(0, item.pattern.length + 1)
      if (!isOverruled(projection.slice(i + 1), element)) return false
      continue
    }
    // Ancestors of what is included are included, those of what is excluded are not excluded.
    if (item.pattern.length > path.length && !item.include) continue
    if (rest.length > 0 && !item.recursive) continue
    // An exclusion of one position of an array leaves the others.
    if (!item.include && item.pattern.some((step) => typeof step === 'number')) continue
    return item.include
  }
  return false
}

/** Whether items listed after an array projection include elements of its array, which the whole list projects then. */
function isOverruled(later: Projection<FieldRef>, element: Path): boolean {
  return later.some(
    (item) =>
      item.kind === 'field' &&
      item.include &&
      overlaps(item.pattern, element) &&
      (item.recursive || item.pattern.length >= element.length),
  )
}

/** Whether pattern and path agree as far as both go. */
export function overlaps(pattern: Path, path: Path): boolean {
  return pattern.every(
    (step, i) =>
      i >= path.length || step === '*' || step === path[i] || (typeof step === 'number' && path[i] === '*'),
  )
}

function stepsOf(path: string): Path {
  return path.split('.').map((step) => (isIndex(step) ? Number(step) : step))
}
