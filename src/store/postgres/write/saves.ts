/** Saves: each item finds at most one document by its identity, and replaces it or inserts a new one. */
import type { JsonObject } from '../../../base/json/json.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import { compileQuery } from '../../../lang/evaluate/match.ts'
import { printQuery } from '../../../lang/query.ts'
import { type Change, type Outcome, type SaveItem, type SavePlan, unwritten } from '../../../plan/plan.ts'
import { fitInMemory, matching } from './matching.ts'
import { type Held, type WriteContext, applyChange, insertOne, lockOne, readMany } from './row-by-row.ts'
import { following } from './history-rows.ts'
import { residualTest } from '../read/reads.ts'
import { insertStatements, runAll } from './change-statements.ts'
import { type ChangedRow, type NewRow, changedRow, newRow } from './rows.ts'
import { areDistinct } from './inserts.ts'
import { replaceAll } from './updates.ts'

type Positioned = readonly [position: number, item: SaveItem]
type ItemOutcome = readonly [position: number, outcome: Outcome]

export async function saveAll(plan: SavePlan, context: WriteContext): Promise<void> {
  const saving = { ...context, plan }
  const items = [...plan.items.entries()]
  for (let i = 0; i < items.length; i += BATCH) {
    const batch = items.slice(i, i + BATCH)
    const outcomes = await context.transaction.attempt(() => saveTogether(batch, saving))
    for (const [position, outcome] of outcomes ?? []) context.report(outcome, position)
    if (outcomes !== undefined) continue
    for (const [position, item] of batch) {
      const outcome = await saveOne(item, saving)
      if (outcome) context.report(outcome, position)
    }
  }
}

const BATCH = 100

interface Saving extends WriteContext {
  readonly plan: SavePlan
}

/** Undefined on a conflict with another transaction, or between two items. */
async function saveTogether(
  batch: readonly Positioned[],
  saving: Saving,
): Promise<readonly ItemOutcome[] | undefined> {
  const found = await findAll(batch, saving)
  if (!found) return undefined
  const outcomes: ItemOutcome[] = []
  const changed: ChangedRow[] = []
  const created: NewRow[] = []
  for (const [position, item] of batch) {
    const held = found.get(position)
    const change = await saving.draw((next) => item.change(held?.stored, next))
    const outcome = held ? replaced(change, held, { changed, saving }) : inserted(change, { created, saving })
    if (outcome) outcomes.push([position, outcome])
  }
  if (!areDistinct(created) || !(await replaceAll(changed, saving))) return undefined
  if (created.length === 0) return outcomes
  const rows = await following(created, saving.table, saving.transaction)
  await runAll(saving.transaction, insertStatements(rows, saving.table))
  const documents = new Map(created.map(({ document }, i) => [document, rows[i]!.document]))
  return outcomes.map(([position, outcome]): ItemOutcome => {
    const document = outcome.kind === 'inserted' ? documents.get(outcome.document) : undefined
    return document ? [position, { kind: 'inserted', document }] : [position, outcome]
  })
}

function replaced(
  change: Change,
  held: Held,
  { changed, saving }: { readonly changed: ChangedRow[]; readonly saving: Saving },
): Outcome | undefined {
  if (change.kind !== 'write') return unwritten(change, held.stored)
  const row = changedRow(held, change, saving)
  changed.push(row)
  return { kind: 'updated', document: row.document }
}

function inserted(
  change: Change,
  { created, saving }: { readonly created: NewRow[]; readonly saving: Saving },
): Outcome | undefined {
  if (change.kind === 'refuse') return { kind: 'refused', faults: change.faults }
  if (change.kind !== 'write') return undefined
  const row = newRow(change.document, saving.stamp, saving.table)
  created.push(row)
  return { kind: 'inserted', document: row.document }
}

/**
 * Documents by the position of their items. Undefined when two items find the same document, because the
 * second must see the change of the first, and when the documents are large.
 */
async function findAll(batch: readonly Positioned[], { plan, ...context }: Saving) {
  const asking = batch.flatMap(([position, { query }]) => (query ? [{ position, query }] : []))
  const names = new Set(asking.map(({ query }) => JSON.stringify(printQuery(query))))
  if (names.size < asking.length) return undefined
  const query = { kind: 'or', terms: asking.map((each) => each.query) } as const
  const matches = asking.length === 0 ? [] : await matching({ ...plan, query }, context)
  if (!fitInMemory(matches)) return undefined
  const documents = await readMany(
    matches.map(({ key }) => key),
    plan.idType,
    context,
  )
  const seen = documents.map((held) => ({ held, value: parseTrusted(held.stored.text) as JsonObject }))
  const found = new Map<number, Held>()
  for (const each of asking) {
    const isMatch = compileQuery(each.query)
    const document = seen.find(({ value }) => isMatch({ value }))
    if (document) found.set(each.position, document.held)
  }
  return new Set(found.values()).size < found.size ? undefined : found
}

/** Another process may insert the document just after it was not found; then the next attempt finds it. */
async function saveOne(item: SaveItem, saving: Saving): Promise<Outcome | undefined> {
  for (let attempt = 1; ; attempt++) {
    const held = await findOne(item, saving)
    const change = await saving.draw((next) => item.change(held?.stored, next))
    if (held) return await applyChange(change, held, saving)
    if (change.kind === 'refuse') return { kind: 'refused', faults: change.faults }
    if (change.kind !== 'write') return undefined
    const outcome = await insertOne(newRow(change.document, saving.stamp, saving.table), saving)
    if (outcome.kind !== 'duplicate' || attempt === 3) return outcome
    if (!(await findOne(item, saving))) return outcome
  }
}

async function findOne({ query }: SaveItem, { plan, ...context }: Saving): Promise<Held | undefined> {
  if (!query) return undefined
  const isMatch = residualTest(query, context.work)
  for (const { key } of await matching({ ...plan, query }, context)) {
    const held = await lockOne(key, plan.idType, context)
    if (held && isMatch(held.stored)) return held
  }
  return undefined
}
