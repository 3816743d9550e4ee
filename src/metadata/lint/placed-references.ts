/** The references of a schema, resolved, with the side (target or holder) of each field they name. */
import { ServiceError } from '../../base/errors.ts'
import { definitionOf } from '../../lang/resolve/joins.ts'
import type { Query } from '../../lang/query.ts'
import { type Scopes, scopedFields } from '../../lang/resolve/query-walk.ts'
import { documentScope, referenceScope } from '../../lang/resolve/reference-scope.ts'
import { resolveQuery, resolveSort } from '../../lang/resolve/resolve.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import type { SortKey } from '../../lang/sort.ts'
import type { Field, ReferenceField } from '../../schema/field.ts'
import type { Schema } from '../../schema/schema.ts'
import { fieldPointer } from '../../schema/fields-on-path.ts'
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

/** Valid references only: invalid ones date from before references were checked, and join nothing. */
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

/** Whether a field belongs to the joined document, or to the document with the reference. */
export type Side = 'target' | 'holder'

/** The scopes around a clause, innermost first; fields beyond them belong to the holder. */
export type Sides = Scopes<Side>
export const OUTSIDE: Sides = ['target']

export function sideOf({ up }: FieldRef, sides: Sides): Side {
  return sides[up] ?? 'holder'
}

/** All fields that a query names, with their sides. */
export function sidedFields(
  query: Query<FieldRef>,
): IteratorObject<{ readonly side: Side; readonly field: Field }> {
  return scopedFields(query, OUTSIDE, 'target').map(({ ref, scope = 'holder' }) => ({
    side: scope,
    field: ref.field,
  }))
}
