/** Turns an authorized find into a read plan, and describes how the documents read are rendered. */
import type { Authorized } from '../access/authorize.ts'
import type { AllowedFind, Rendering } from '../access/requests.ts'
import type { Projection, ProjectionItem } from '../lang/projection.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import type { Field } from '../schema/field.ts'
import type { Schema } from '../schema/schema.ts'
import { idTypeOf } from './id-type.ts'
import { type IsInStatement, type PlannedJoin, planJoins, planInStatement } from './joins.ts'
import { mayPassThrough } from './pass-through.ts'
import type { ReadPlan } from './plan.ts'

/** How documents from the store are rendered. */
export interface Remaining {
  /** Absent: the stored text is sent unchanged. */
  readonly projection?: Projection<FieldRef>
  /** Whether the caller requests every readable field: rendering then only removes hidden fields. */
  readonly isWhole: boolean
  /** The references to embed. */
  readonly joins?: readonly PlannedJoin[]
}

export interface FindPlan extends Remaining {
  readonly read: ReadPlan
}

export function planFind(find: Authorized<AllowedFind>, isInStatement: IsInStatement): FindPlan {
  const { schema, query, sort, from, to, counted, asOf } = find
  const joins = find.joined && planJoins(find.joined.joins, schema.collection, isInStatement)
  const read: ReadPlan = {
    collection: schema.collection,
    ...(query && { query }),
    sort,
    from,
    ...(to !== undefined && { to }),
    counted,
    idType: idTypeOf(schema),
    ...(joins && { joins: planInStatement(joins) }),
    ...(asOf !== undefined && { asOf }),
  }
  return { read, ...remainingProjection(find), ...(joins && { joins }) }
}

/** No projection remains if the caller requests every field and may read every field. */
export function remainingProjection({
  requested,
  projection,
  schema,
  shownAs,
  joined,
}: Rendering): Remaining {
  const showsOthers = joined !== undefined && joined.joins.length > 0
  // Stored text contains no references, so an item that excludes one matters only if references are embedded.
  const own = requested.filter((item) => !(isOfReference(item, schema) && (item.include || !showsOthers)))
  const isWhole = asksForAll(own) && mayPassThrough(schema)
  const isOpen = !shownAs && projection === requested && !showsOthers
  return isWhole && isOpen ? { isWhole } : { projection, isWhole }
}

/** Whether an item includes everything and no later item excludes anything. */
function asksForAll(projection: Projection<FieldRef>): boolean {
  if (!projection.every(({ kind }) => kind === 'field')) return false
  const all = projection.findLastIndex(isAll)
  return all !== -1 && projection.slice(all).every(({ include }) => include)
}

function isOfReference({ kind, pattern }: ProjectionItem<FieldRef>, { root }: Schema): boolean {
  let field: Field | undefined = root
  for (const step of pattern) field = field?.kind === 'object' ? field.fields.get(String(step)) : undefined
  return kind === 'field' && field?.kind === 'reference'
}

function isAll(item: ProjectionItem<FieldRef>): boolean {
  const [step, ...rest] = item.pattern
  return item.kind === 'field' && item.include && item.recursive && step === '*' && rest.length === 0
}
