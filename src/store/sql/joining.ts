/**
 * The conditions of a join, split into conditions on the joined documents alone, the equality that indexes
 * serve best, and the rest.
 */
import { isJoined } from '../../lang/resolve/joins.ts'
import { looksOut } from '../../lang/resolve/query-walk.ts'
import { type Query, conjunctsOf, fieldsOf } from '../../lang/query.ts'
import { type FieldRef, linksIn } from '../../lang/resolve/scope.ts'
import type { ReadPlan } from '../../plan/plan.ts'
import type { Collection } from '../../schema/schema.ts'
import type { Form } from './dialect.ts'
import type { Fragment } from './fragment.ts'
import { type ReadAs, commonReadAs } from './read-as.ts'
import { type OtherRows, type Translation, typeOf, withoutColumns } from './translation.ts'

export interface Joining {
  /** Conditions on the joined document alone. */
  readonly local: readonly Query<FieldRef>[]
  readonly equality?: Equality
  /** Conditions on both sides. */
  readonly mixed: readonly Query<FieldRef>[]
}

/** A value of the joined document equals an outer value, or an element of an outer array. */
export interface Equality {
  readonly key: FieldRef
  readonly outer: FieldRef
  readonly isElement: boolean
  /** The reading of both sides. */
  readonly type: ReadAs
  /** Whether null may be on both sides. */
  readonly mayBeNull: boolean
}

/** The outer scopes of a joined document count from 1 in the queries, and from 0 in `to`. */
export function joiningOf(queries: readonly Query<FieldRef>[], other: OtherRows): Joining {
  const terms = queries.flatMap(conjunctsOf)
  const local = terms.filter((term) => !looksOut(term))
  const correlated = terms.filter(looksOut)
  const candidates = correlated.flatMap((term) => {
    const equality = equalityIn(term)
    return equality ? [{ term, equality }] : []
  })
  const best = candidates.find(({ equality }) => isByIndex(equality, other)) ?? candidates[0]
  if (!best) return { local, mixed: correlated }
  return { local, equality: best.equality, mixed: correlated.filter((term) => term !== best.term) }
}

/** Whether an index of the other table finds documents by the key. */
export function isByIndex({ key, type }: Equality, other: OtherRows): boolean {
  return other.isIndexed(key, type)
}

/** Whether the query has conditions on documents of other tables. */
export function mentionsOthers(query: Query<FieldRef>): boolean {
  return fieldsOf(query).some(({ field }) => isJoined(field))
}

/** The other collections that a plan reads. */
export function collectionsBeside({
  query,
  sort = [],
  joins = [],
}: Partial<Pick<ReadPlan, 'query' | 'sort' | 'joins'>>): readonly Collection[] {
  const named = [...(query ? fieldsOf(query) : []), ...linksIn(sort).map(({ reference }) => reference)]
  return [
    ...named.flatMap(({ field }) => (isJoined(field) ? [field.join.schema.collection] : [])),
    ...joins.flatMap((each) => [each.collection, ...collectionsBeside(each)]),
  ]
}

/** The value of one side of an equality, or of another field that is read in the same type. */
export function valueOf(
  { up, steps, field }: FieldRef,
  { type }: Equality,
  translation: Translation,
): Fragment {
  // A column has the form of its own type.
  const isColumn = typeOf(field) === type || (type !== 'bigdecimal' && type !== 'onlyNumber')
  const { scopes } = isColumn ? translation : withoutColumns(translation)
  return translation.dialect.read(scopes[up]!, steps, type)
}

/** The forms of one side of an equality in indexes, where they are not the value itself. */
export function indexedFormsOf(
  { up, field }: FieldRef,
  { type }: Equality,
  { scopes }: Translation,
): readonly Form[] {
  const form = scopes[up]!.indexedForm?.(field.path, type)
  return form ? [form] : []
}

function equalityIn(term: Query<FieldRef>): Equality | undefined {
  if (term.kind === 'inField' && !term.negated) return equalityOf(term.field, term.rfield)
  if (term.kind !== 'compareFields' || term.op !== '$eq') return undefined
  const { field, rfield } = term
  if (field.field.kind !== 'simple' || rfield.field.kind !== 'simple') return undefined
  return equalityOf(field, rfield) ?? equalityOf(rfield, field)
}

function equalityOf(key: FieldRef, outer: FieldRef): Equality | undefined {
  if (key.up > 0 || outer.up === 0 || key.steps.includes('*') || outer.steps.includes('*')) return undefined
  const isElement = outer.field.kind === 'array'
  const mayBeNull = !isId(key) && (isElement || !isId(outer))
  return { key, outer, isElement, type: commonReadAs(typeOf(key.field), typeOf(outer.field)), mayBeNull }
}

/** Whether the field is `_id`, which every document has. */
export function isId({ field }: FieldRef): boolean {
  return field.path === '_id'
}
