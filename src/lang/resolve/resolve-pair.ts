/** Resolves comparisons of two fields. Each name is resolved in its own scope; the types must be comparable. */
import type { SimpleField } from '../../schema/field.ts'
import { invalidQuery, requireArray } from './checks.ts'
import type { FieldPair, Named, Query } from '../query.ts'
import { type FieldRef, type Scope, resolveField } from './scope.ts'

/** A name and its scope. `shift` is the number of scopes opened inside it since. */
export interface Operand {
  readonly named: Named
  readonly scope: Scope
  readonly shift: number
}

export function resolvePair(query: FieldPair<Named>, left: Operand, right: Operand): Query<FieldRef> {
  const field = refOf(left)
  const rfield = refOf(right)
  if (simpleFamily(field, left.named.at) !== simpleFamily(rfield, right.named.at)) {
    throw invalidQuery(
      `"${field.path}" and "${rfield.path}" are of types that do not compare`,
      right.named.at,
    )
  }
  if (query.kind === 'compareFields') return { ...query, field, rfield }
  if (field.field.kind !== 'simple')
    throw invalidQuery(`"${field.path}" must be a simple value`, left.named.at)
  requireArray(rfield, right.named.at)
  return { ...query, field, rfield }
}

function refOf({ named, scope, shift }: Operand): FieldRef {
  const ref = resolveField(named, scope)
  return shift === 0 ? ref : { ...ref, up: ref.up + shift }
}

/** Arrays of simple values are compared as a whole; every other operand must be a simple value. */
function simpleFamily({ field, path }: FieldRef, at: string): SimpleField['type']['family'] {
  const value = field.kind === 'array' ? field.element : field
  if (value.kind === 'simple' && value.type.family !== undefined) return value.type.family
  throw invalidQuery(`"${path}" is neither a simple value nor an array of simple values`, at)
}
