/** Deletes all matching documents, with their claims. */
import type { JsonObject } from '../../../base/json/json.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import { type CaptureChange, type DeletePlan, type StoredDocument, unwritten } from '../../../plan/plan.ts'
import type { TypeName } from '../../../schema/types.ts'
import type { Row } from '../connection/connections.ts'
import { isText } from '../schema/indexes.ts'
import { type Match, batchesOf, matching, stillMatches } from './matching.ts'
import { type WriteContext, lockOne, readMany } from './row-by-row.ts'
import { historyStatements, outboxStatements, runAll } from './change-statements.ts'
import { deletedRow, keepsHistory } from './history-rows.ts'
import { deleteStatement, releaseStatement } from './row-statements.ts'
import { claimsOfTexts } from './rows.ts'
import type { Gone } from './outbox-rows.ts'

export async function deleteAll(plan: DeletePlan, context: WriteContext): Promise<void> {
  const isMatch = stillMatches(plan.query, context)
  for (const batch of batchesOf(await matching(plan, context), plan.decide ? undefined : 1000)) {
    const wanted = plan.decide ? await decided(batch, { plan, isMatch, context }) : batch
    const gone = await remove(wanted, plan, context)
    // Documents that changed since they were matched are locked, and tested again in their newest state.
    const changed = wanted.filter(({ key }) => !gone.has(key))
    for (const match of changed) {
      const held = await lockOne(match.key, plan.idType, context)
      if (held && isMatch(match, held.stored) && isRemoved(held.stored, plan, context))
        await remove([{ key: match.key, version: held.stored.version }], plan, context)
    }
  }
}

interface Deciding {
  readonly plan: DeletePlan
  readonly isMatch: (match: Match, stored: StoredDocument) => boolean
  readonly context: WriteContext
}

/** The documents that the plan decides to delete, in the versions by which it decided. The others are reported. */
async function decided(
  batch: readonly Match[],
  { plan, isMatch, context }: Deciding,
): Promise<readonly Match[]> {
  const matches = new Map(batch.map((match) => [match.key, match]))
  const held = await readMany([...matches.keys()], plan.idType, context)
  return held
    .filter(({ key, stored }) => isMatch(matches.get(key)!, stored) && isRemoved(stored, plan, context))
    .map(({ key, stored }) => ({ key, version: stored.version }))
}

function isRemoved(stored: StoredDocument, { decide }: DeletePlan, { report }: WriteContext): boolean {
  const decision = decide?.(stored)
  if (!decision || decision.kind === 'delete') return true
  const outcome = unwritten(decision, stored)
  if (outcome) report(outcome)
  return false
}

/** Deletes and reports the documents that have not changed since they were matched, and returns their keys. */
async function remove(
  batch: readonly Match[],
  { idType, decide }: DeletePlan,
  context: WriteContext,
): Promise<ReadonlySet<string>> {
  const { transaction, table, report, stamp } = context
  const rows = await transaction.query(deleteStatement(batch, table))
  const claims = claimsOfTexts(
    rows.map((row) => row[1]!),
    table,
  )
  const keys = rows.map(([key]) => key!)
  if (claims.size > 0) await transaction.query(releaseStatement(claims, keys, table))
  const captured = stamp.captureChange
    ? capturedOf(rows, batch, { idType, captureChange: stamp.captureChange })
    : []
  if (captured.length > 0) await runAll(transaction, outboxStatements(captured, table))
  if (keepsHistory(table) && rows.length > 0) await keepGone(rows, batch, context)
  const versions = new Map(batch.map(({ key, version }) => [key, version]))
  for (const [key, text] of rows) {
    const document = decide && { id: idOf(key!, text!, idType), version: versions.get(key!)!, text: text! }
    report(document ? { kind: 'deleted', document } : { kind: 'deleted' })
  }
  return new Set(keys)
}

async function keepGone(
  rows: readonly Row[],
  batch: readonly Match[],
  { transaction, table, stamp }: WriteContext,
): Promise<void> {
  const versions = new Map(batch.map(({ key, version }) => [key, version]))
  const gone = rows.map(([key, text, paths]) =>
    deletedRow(key!, { version: versions.get(key!)!, text: text!, paths: Number(paths) }, stamp),
  )
  await runAll(transaction, historyStatements(gone, stamp.principal, table))
}

function capturedOf(
  rows: readonly Row[],
  batch: readonly Match[],
  { idType, captureChange }: { readonly idType: TypeName; readonly captureChange: CaptureChange },
): readonly Gone[] {
  const versions = new Map(batch.map(({ key, version }) => [key, version]))
  const all = rows.map((row): Gone => {
    const [key, text] = [row[0]!, row[1]!]
    const document = idOf(key, text, idType)
    const outboxEntries = captureChange({ operation: 'delete', before: { text } })
    return { key, document, version: versions.get(key)!, text, outboxEntries }
  })
  return all.filter(({ outboxEntries }) => outboxEntries.length > 0)
}

function idOf(key: string, text: string, idType: TypeName): string {
  if (isText(idType)) return key
  const id = (parseTrusted(text) as JsonObject)['_id']!
  return typeof id === 'string' ? id : JSON.stringify(id)
}
