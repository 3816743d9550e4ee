/** Decides whether one store can evaluate a query or a sort alone, including those that lead through references. */
import { isJoined } from '../../lang/resolve/joins.ts'
import type { Query, Related } from '../../lang/query.ts'
import { relatedIn } from '../../lang/resolve/query-walk.ts'
import { type FieldRef, linksIn } from '../../lang/resolve/scope.ts'
import type { ReadPlan } from '../../plan/plan.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Deps } from '../deps.ts'
import type { ReadContext } from './read-context.ts'

/** The store is the one with the documents of the schema. */
export function isPushable(
  query: Query<FieldRef>,
  schema: Schema,
  { deps, asOf }: Pick<ReadContext, 'deps' | 'asOf'>,
): boolean {
  const related = [...relatedIn(query)]
  // The store itself splits a query without references into SQL and residual.
  if (related.length === 0) return true
  const { datasource } = schema.collection
  const stay = related.every((each) => targetOf(each).collection.datasource === datasource)
  const store = deps.storeOf(schema)
  return stay && store.canJoin() && store.answers(query, asOf)
}

/** Whether the store with the documents of the schema can sort them. It has no indexes to look up past documents by. */
export function isSortedByStore(
  { sort, asOf }: Pick<ReadPlan, 'sort' | 'asOf'>,
  schema: Schema,
  { storeOf }: Pick<Deps, 'storeOf'>,
): boolean {
  const links = linksIn(sort)
  if (links.length === 0 && !sort.some(({ field }) => field.score)) return true
  const { datasource } = schema.collection
  const store = storeOf(schema)
  // Citus crashed where a sub-select computed scores of documents on several shards; scores without one are untried there.
  if (asOf !== undefined || !store.canJoin()) return false
  return links.every(
    ({ reference, query }) =>
      reference.field.join.schema.collection.datasource === datasource && store.answers(query),
  )
}

/** The schema of the documents that the reference leads to. */
export function targetOf({ reference }: Related<FieldRef>): Schema {
  if (isJoined(reference.field)) return reference.field.join.schema
  throw new Error('a reference that was not followed')
}
