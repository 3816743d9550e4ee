/** An authorized find → what the store does, and what remains to be done with the documents it gives. */
import type { Authorized } from '../access/authorize.ts'
import type { AllowedFind, Showing } from '../access/requests.ts'
import { memoized } from '../base/memo.ts'
import type { Projection } from '../lang/projection.ts'
import type { FieldRef } from '../lang/scope.ts'
import { type SimpleField, isVirtual } from '../schema/field.ts'
import { type Schema, allFields } from '../schema/schema.ts'
import type { TypeName } from '../schema/types.ts'
import type { ReadPlan } from './plan.ts'

/** What remains to be done with the documents that a store gives. */
export interface Remaining {
  /** Absent: the stored text is the answer, as it is. */
  readonly projection?: Projection<FieldRef>
  /** Whether all is asked for that may be told: then nothing has to be done but to hide what is hidden. */
  readonly isWhole: boolean
}

interface FindPlan extends Remaining {
  readonly read: ReadPlan
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
  return { read, ...remainingProjection(find) }
}

export function idTypeOf(schema: Schema): TypeName {
  return (schema.root.fields.get('_id') as SimpleField).type.name
}

/** What remains to be done with stored documents: nothing, when all is asked for and all of it may be told. */
export function remainingProjection({ asked, projection, schema, shownAs }: Showing): Remaining {
  const isWhole = asksForAll(asked) && mayPassThrough(schema)
  const isOpen = !shownAs && projection === asked
  return isWhole && isOpen ? { isWhole } : { projection, isWhole }
}

function asksForAll(projection: Projection<FieldRef>): boolean {
  const last = projection.at(-1)
  return (
    last?.kind === 'field' &&
    last.include &&
    last.recursive &&
    last.pattern.length === 1 &&
    last.pattern[0] === '*' &&
    projection.every(({ kind }) => kind === 'field')
  )
}

/** Stored text holds members of this version only, and lacks none that are filled when read. */
const mayPassThrough = memoized((schema: Schema) => {
  return schema.coversCollection && !allFields(schema.root.fields).some(isVirtual)
})
