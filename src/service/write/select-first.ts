/** Writes whose query leads through references: their documents are selected before anything is written. */
import type { Json, JsonObject } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { type Query, allOf, conjunctsOf } from '../../lang/query.ts'
import { relatedIn } from '../../lang/resolve/query-walk.ts'
import { type FieldRef, resolveField, rootScope } from '../../lang/resolve/scope.ts'
import type { DeletePlan, UpdatePlan } from '../../plan/plan.ts'
import type { Schema } from '../../schema/schema.ts'
import type { ReadContext } from '../read/read-context.ts'
import { documentsMatching } from '../read/embed/remote-joins.ts'

/**
 * Conditions on the documents themselves remain in the query, so that the write checks them against the
 * newest state.
 */
export async function selectFirst<P extends UpdatePlan | DeletePlan>(
  plan: P,
  schema: Schema,
  reading: ReadContext,
): Promise<P> {
  if (!leadsAway(plan.query)) return plan
  const own = conjunctsOf(plan.query).filter((term) => !leadsAway(term))
  const documents = await documentsMatching(schema, { query: plan.query, sort: [] }, reading)
  const values = documents.map(({ text }): Json => (parseTrusted(text) as JsonObject)['_id']!)
  const field = resolveField({ path: '_id', at: '' }, rootScope(schema))
  return { ...plan, query: allOf([...own, { kind: 'in', field, negated: false, values }]) }
}

function leadsAway(query: Query<FieldRef>): boolean {
  return relatedIn(query).some(() => true)
}
