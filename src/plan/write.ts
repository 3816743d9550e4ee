/** Turns authorized writes into write plans, and describes how the documents in their outcomes are rendered. */
import type { Authorized } from '../access/authorize.ts'
import { type Rules, narrowed } from '../access/conditions.ts'
import type { AllowedChange, AllowedDelete, AllowedInsert, AllowedSave } from '../access/requests.ts'
import type { JsonObject } from '../base/json/json.ts'
import type { Schema } from '../schema/schema.ts'
import { idTypeOf } from './id-type.ts'
import type { DeletePlan, InsertPlan, SaveItem, SavePlan, UpdatePlan } from './plan.ts'
import { type Remaining, remainingProjection } from './read.ts'

interface Planned<P> extends Remaining {
  readonly write: P
}

export function planInsert(
  allowed: Authorized<AllowedInsert>,
  documents: readonly JsonObject[],
): Planned<InsertPlan> {
  const { schema, atomic } = allowed
  const write: InsertPlan = { kind: 'insert', ...place(schema), atomic, documents }
  return { write, ...remainingProjection(allowed) }
}

export function planUpdate(
  allowed: Authorized<AllowedChange>,
  change: UpdatePlan['change'],
): Planned<UpdatePlan> {
  const { schema, query, atomic } = allowed
  const write: UpdatePlan = { kind: 'update', ...place(schema), atomic, query, change }
  return { write, ...remainingProjection(allowed) }
}

/** The caller's row rules narrow each item: an identity outside of them finds no document. */
export function planSave(allowed: Authorized<AllowedSave>, items: readonly SaveItem[]): Planned<SavePlan> {
  const { schema, atomic, saveRules } = allowed
  const own = saveRules.length === 0 ? items : items.map((item) => within(item, saveRules))
  const write: SavePlan = { kind: 'save', ...place(schema), atomic, items: own }
  return { write, ...remainingProjection(allowed) }
}

function within(item: SaveItem, rules: Rules): SaveItem {
  return item.query ? { ...item, query: narrowed(item.query, rules) } : item
}

export function planDelete(
  allowed: Authorized<AllowedDelete>,
  decide?: NonNullable<DeletePlan['decide']>,
): DeletePlan {
  const { schema, query, atomic } = allowed
  return { kind: 'delete', ...place(schema), atomic, query, ...(decide && { decide }) }
}

/** Documents are found by `_id`. No hook watches them: an import restores a state whose events have been sent already. */
export function planLoad(
  { schema }: Authorized<{ readonly schema: Schema }>,
  items: readonly SaveItem[],
): SavePlan {
  return { kind: 'save', ...place(schema), atomic: false, items }
}

function place(schema: Schema) {
  return { collection: schema.collection, idType: idTypeOf(schema) }
}
