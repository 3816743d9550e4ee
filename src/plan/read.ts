/** An authorized find → what the store does, and what remains to be done with the documents it gives. */
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

/** What remains to be done with the documents that a store gives. */
export interface Remaining {
  /** Absent: the stored text is the answer, as it is. */
  readonly projection?: Projection<FieldRef>
  /** Whether all is asked for that may be told: then nothing has to be done but to hide what is hidden. */
  readonly isWhole: boolean
  /** What references show. */
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

/** What remains to be done with stored documents: nothing, when all is asked for and all of it may be told. */
export function remainingProjection({
  requested,
  projection,
  schema,
  shownAs,
  joined,
}: Rendering): Remaining {
  const showsOthers = joined !== undefined && joined.joins.length > 0
  // A reference is not part of the stored text; what excludes one only matters where some are shown.
  const own = requested.filter((item) => !(isOfReference(item, schema) && (item.include || !showsOthers)))
  const isWhole = asksForAll(own) && mayPassThrough(schema)
  const isOpen = !shownAs && projection === requested && !showsOthers
  return isWhole && isOpen ? { isWhole } : { projection, isWhole }
}

/** Everything is included and nothing excluded after that. */
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
