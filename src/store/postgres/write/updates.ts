/** Updates: the plan computes the change of each matching document from its newest state. */
import { type Outcome, type StoredDocument, type UpdatePlan, unwritten } from '../../../plan/plan.ts'
import { requestedId } from '../../../plan/plan-properties.ts'
import { type Match, batchesOf, matching, stillMatches } from './matching.ts'
import { type WriteContext, applyChange, lockOne, readMany } from './row-by-row.ts'
import { runAll, updateStatements } from './change-statements.ts'
import { type ChangedRow, changedRow } from './rows.ts'

export async function updateAll(plan: UpdatePlan, context: WriteContext): Promise<void> {
  const id = requestedId(plan)
  if (id !== undefined)
    return await updateSingly([{ key: id, version: 0 }], { ...context, plan, isMatch: alwaysMatches })
  const updating = { ...context, plan, isMatch: stillMatches(plan.query, context) }
  for (const batch of batchesOf(await matching(plan, context))) {
    const outcomes = await context.transaction.attempt(() => updateTogether(batch, updating))
    for (const outcome of outcomes ?? []) context.report(outcome)
    if (outcomes === undefined) await updateSingly(batch, updating)
  }
}

/**
 * A document that is looked up by its `_id`, which never changes, still matches. It is locked at once: outside of
 * transactions of callers, its optimistic write has just failed, and others are writing it.
 */
const alwaysMatches = (): boolean => true

interface Updating extends WriteContext {
  readonly plan: UpdatePlan
  readonly isMatch: (match: Match, stored: StoredDocument) => boolean
}

/** Undefined on a conflict with another transaction, or when claims change. */
async function updateTogether(
  batch: readonly Match[],
  updating: Updating,
): Promise<readonly Outcome[] | undefined> {
  const { plan, draw, isMatch } = updating
  const matches = new Map(batch.map((match) => [match.key, match]))
  const outcomes: Outcome[] = []
  const rows: ChangedRow[] = []
  for (const held of await readMany([...matches.keys()], plan.idType, updating)) {
    const { key, stored } = held
    if (!isMatch(matches.get(key)!, stored)) continue
    const change = await draw((next) => plan.change(stored, next))
    if (change.kind === 'write') {
      const row = changedRow(held, change, updating)
      rows.push(row)
      outcomes.push({ kind: 'updated', document: row.document })
      continue
    }
    const outcome = unwritten(change, stored)
    if (outcome) outcomes.push(outcome)
  }
  return (await replaceAll(rows, updating)) ? outcomes : undefined
}

/**
 * Returns whether all documents still had the version that was read. False without a write if claims change,
 * which happens one document at a time.
 */
export async function replaceAll(
  rows: readonly ChangedRow[],
  { transaction, table }: WriteContext,
): Promise<boolean> {
  if (rows.some(({ released, claimed }) => released.size + claimed.size > 0)) return false
  // One statement would lock the rows in an order chosen by the engine, and two such statements could
  // deadlock. Single statements in the order of keys, sent without waiting for each other, take one round
  // trip as well.
  const inOrder = rows.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const replaced = await Promise.all(inOrder.map((row) => runAll(transaction, updateStatements(row, table))))
  return replaced.every(({ length }) => length === 1)
}

async function updateSingly(batch: readonly Match[], updating: Updating): Promise<void> {
  const { plan, draw, isMatch, report } = updating
  for (const match of batch) {
    const held = await lockOne(match.key, plan.idType, updating)
    if (!held || !isMatch(match, held.stored)) continue
    const change = await draw((next) => plan.change(held.stored, next))
    const outcome = await applyChange(change, held, updating)
    if (outcome) report(outcome)
  }
}
