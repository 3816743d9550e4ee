/** Authorized writes → what the store does. */
import type { AllowedInsert, Authorized } from '../access/authorize.ts'
import type { JsonObject } from '../base/json.ts'
import type { InsertPlan } from './plan.ts'
import { idTypeOf } from './read.ts'

export function planInsert(
  { schema, atomic }: Authorized<AllowedInsert>,
  documents: readonly JsonObject[],
): InsertPlan {
  return { collection: schema.collection, idType: idTypeOf(schema), documents, atomic }
}
