/** Authorized writes → what the store does, and what remains to be done with the documents it kept. */
import type { AllowedInsert, Authorized } from '../access/authorize.ts'
import type { JsonObject } from '../base/json.ts'
import type { Projection } from '../lang/projection.ts'
import type { FieldRef } from '../lang/resolve.ts'
import type { InsertPlan } from './plan.ts'
import { idTypeOf, remainingProjection } from './read.ts'

export interface PlannedInsert {
  readonly write: InsertPlan
  /** Absent: the stored text is the answer, as it is. */
  readonly projection?: Projection<FieldRef>
}

export function planInsert(
  { schema, projection, atomic }: Authorized<AllowedInsert>,
  documents: readonly JsonObject[],
): PlannedInsert {
  const write = {
    kind: 'insert' as const,
    collection: schema.collection,
    idType: idTypeOf(schema),
    documents,
    atomic,
  }
  return { write, ...remainingProjection(projection, schema) }
}
