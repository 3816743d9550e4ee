/** An authorized find → what the store does, and what remains to be done with the documents it gives. */
import type { AllowedFind, Authorized } from '../access/authorize.ts'
import type { Projection } from '../lang/projection.ts'
import type { FieldRef } from '../lang/resolve.ts'
import type { SimpleField } from '../schema/field.ts'
import { type Schema, allFields } from '../schema/schema.ts'
import type { TypeName } from '../schema/types.ts'
import type { ReadPlan } from './plan.ts'

export interface FindPlan {
  readonly read: ReadPlan
  /** Absent: the stored text is the answer, as it is. */
  readonly projection?: Projection<FieldRef>
}

export function planFind(find: Authorized<AllowedFind>): FindPlan {
  const { schema, query, sort, from, to, counted } = find
  const read: ReadPlan = {
    collection: schema.collection,
    ...(query && { query }),
    sort,
    from,
    ...(to !== undefined && { to }),
    counted,
    idType: idTypeOf(schema),
  }
  return isWholeDocument(find) ? { read } : { read, projection: find.projection }
}

export function idTypeOf(schema: Schema): TypeName {
  return (schema.root.fields.get('_id') as SimpleField).type.name
}

/** Everything is asked for, all of it may be read, and all that is stored belongs to this version. */
function isWholeDocument({ projection, schema }: AllowedFind): boolean {
  const last = projection.at(-1)
  const asksForAll =
    last?.kind === 'field' &&
    last.include &&
    last.recursive &&
    last.pattern.length === 1 &&
    last.pattern[0] === '*' &&
    projection.every(({ kind }) => kind === 'field')
  return asksForAll && schema.coversCollection && !hasVirtualFields(schema)
}

function hasVirtualFields(schema: Schema): boolean {
  return allFields(schema.root.fields).some((field) => field.kind === 'simple' && field.virtual !== undefined)
}
