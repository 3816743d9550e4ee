/** References where they stand, resolved, with the side on which each field they name is found. */
import { ServiceError, unreachable } from '../../base/errors.ts'
import { definitionOf } from '../../lang/resolve/joins.ts'
import { type Query, fieldsOf } from '../../lang/query.ts'
import { documentScope, referenceScope } from '../../lang/resolve/reference-scope.ts'
import { resolveQuery, resolveSort } from '../../lang/resolve/resolve.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import type { SortKey } from '../../lang/sort.ts'
import type { Field, ReferenceField } from '../../schema/field.ts'
import type { Schema } from '../../schema/schema.ts'
import { fieldPointer } from '../../schema/trail.ts'
import { referencesIn } from '../validate/check-references.ts'
import type { EntityInfo } from '../documents/entity-info.ts'
import type { Subject } from './subject.ts'

export interface PlacedReference {
  readonly reference: ReferenceField
  readonly target: { readonly info: EntityInfo; readonly schema: Schema }
  readonly query: Query<FieldRef>
  readonly sort: readonly SortKey<FieldRef>[]
  /** JSON pointer into the metadata document. */
  readonly at: string
}

/** Those that hold: others were there before references were checked, and join nothing. */
export function* placedReferences(subject: Subject, schema: Schema): Generator<PlacedReference> {
  for (const reference of referencesIn(schema)) {
    const { entity, versionValue, path } = reference
    const isItself = entity === schema.entity && (versionValue ?? schema.version) === schema.version
    const target = isItself ? { info: subject.info, schema } : subject.others(entity, versionValue)
    const resolved = target && resolvedIn(schema, reference, target.schema)
    if (resolved) yield { reference, target, ...resolved, at: `/schema${fieldPointer(path)}` }
  }
}

function resolvedIn(
  holder: Schema,
  reference: ReferenceField,
  target: Schema,
): Pick<PlacedReference, 'query' | 'sort'> | undefined {
  const { query, sort } = definitionOf(reference)
  try {
    return {
      query: resolveQuery(query, referenceScope(holder, reference, target)),
      sort: resolveSort(sort, documentScope(target)),
    }
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

/** Whether a field is one of the document that is joined, or of the one that holds the reference. */
export type Side = 'target' | 'holder'

/** The scopes around a clause, the innermost first; beyond them all is on the side of the holder. */
export type Sides = readonly Side[]
export const OUTSIDE: Sides = ['target']

export function sideOf({ up }: FieldRef, sides: Sides): Side {
  return sides[up] ?? 'holder'
}

/** In an elemMatch: a scope for its elements, one for every `*` on the way to the array, and those around it. */
export function sidesInside(array: FieldRef, sides: Sides): Sides {
  const opened = array.steps.filter((step) => step === '*').length + 1
  return [...Array.from({ length: opened }, () => sideOf(array, sides)), ...sides.slice(array.up)]
}

/** Every field a query names, and where it is. */
export function* sidedFields(
  query: Query<FieldRef>,
  sides: Sides = OUTSIDE,
): Generator<{ readonly side: Side; readonly field: Field }> {
  switch (query.kind) {
    case 'and':
    case 'or':
      for (const term of query.terms) yield* sidedFields(term, sides)
      break
    case 'not':
      yield* sidedFields(query.term, sides)
      break
    case 'elemMatch':
      yield { side: sideOf(query.array, sides), field: query.array.field }
      yield* sidedFields(query.query, sidesInside(query.array, sides))
      break
    case 'compare':
    case 'compareFields':
    case 'in':
    case 'inField':
    case 'regex':
    case 'contains':
    case 'related':
      for (const ref of fieldsOf(query)) yield { side: sideOf(ref, sides), field: ref.field }
      break
    default:
      unreachable(query)
  }
}
