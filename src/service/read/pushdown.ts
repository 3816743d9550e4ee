/** Decides whether one store can evaluate a query alone, including clauses that lead through references. */
import { isJoined } from '../../lang/resolve/joins.ts'
import type { Query, Related } from '../../lang/query.ts'
import { relatedIn } from '../../lang/resolve/query-walk.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Deps } from '../deps.ts'

/** The store is the one with the documents of the schema. */
export function isPushable(
  query: Query<FieldRef>,
  schema: Schema,
  { storeOf }: Pick<Deps, 'storeOf'>,
): boolean {
  const related = [...relatedIn(query)]
  // The store itself splits a query without references into SQL and residual.
  if (related.length === 0) return true
  const { datasource } = schema.collection
  const stay = related.every((each) => targetOf(each).collection.datasource === datasource)
  const store = storeOf(schema)
  return stay && store.canJoin() && store.answers(query)
}

/** The schema of the documents that the reference leads to. */
export function targetOf({ reference }: Related<FieldRef>): Schema {
  if (isJoined(reference.field)) return reference.field.join.schema
  throw new Error('a reference that was not followed')
}
