/** Updates: every document that matches is shown to the plan in its newest state, and becomes what that says. */
import { type Outcome, type StoredDocument, type UpdatePlan, unwritten } from '../../../plan/plan.ts'
import { type Match, batchesOf, matching, stillMatches } from './matching.ts'
import { type WriteContext, applyChange, lockOne, readMany } from './row-by-row.ts'
import { updateStatement } from './row-statements.ts'
import { type ChangedRow, changedRow } from './rows.ts'

export async function updateAll(plan: UpdatePlan, context: WriteContext): Promise<void> {
  const updating = { ...context, plan, isMatch: stillMatches(plan.query, context) }
  for (const batch of batchesOf(await matching(plan, context))) {
    const outcomes = await context.transaction.attempt(() => updateTogether(batch, updating))
    for (const outcome of outcomes ?? []) context.report(outcome)
    if (outcomes === undefined) await updateSingly(batch, updating)
  }
}

interface Updating extends WriteContext {
  readonly plan: UpdatePlan
  readonly isMatch: (match: Match, stored: StoredDocument) => boolean
}

/** Undefined when somebody is in the way. */
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
      const row = changedRow(held, change.document, updating)
      rows.push(row)
      outcomes.push({ kind: 'updated', document: row.document })
      continue
    }
    const outcome = unwritten(change, stored)
    if (outcome) outcomes.push(outcome)
  }
  return (await replaceAll(rows, updating)) ? outcomes : undefined
}

/** Tells whether all were still what was seen; unique values change hands one document at a time. */
export async function replaceAll(
  rows: readonly ChangedRow[],
  { transaction, table }: WriteContext,
): Promise<boolean> {
  if (rows.some(({ released, claimed }) => released.size + claimed.size > 0)) return false
  // In one statement the engine would lock them in an order of its own, and two such statements would wait for each
  // other; sent together in the order of their keys they take no longer trip.
  const inOrder = rows.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const replaced = await Promise.all(inOrder.map((row) => transaction.query(updateStatement(row, table))))
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
