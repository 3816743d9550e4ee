/** Deletes all matching documents, with their claims. */
import type { JsonObject } from '../../../base/json/json.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import type { DeletePlan, CaptureChange } from '../../../plan/plan.ts'
import type { TypeName } from '../../../schema/types.ts'
import type { Row } from '../connection/connections.ts'
import { isText } from '../schema/indexes.ts'
import { type Match, batchesOf, matching, stillMatches } from './matching.ts'
import { type WriteContext, lockOne } from './row-by-row.ts'
import { historyDeletedStatement, keepsHistory } from './history-rows.ts'
import { deleteStatement, releaseStatement } from './row-statements.ts'
import { claimsOfTexts } from './rows.ts'
import { type Gone, goneStatement } from './outbox-rows.ts'

export async function deleteAll(plan: DeletePlan, context: WriteContext): Promise<void> {
  const isMatch = stillMatches(plan.query, context)
  for (const batch of batchesOf(await matching(plan, context), 1000)) {
    const gone = await remove(batch, plan.idType, context)
    // Documents that changed since they were matched are locked, and tested again in their newest state.
    const changed = batch.filter(({ key }) => !gone.has(key))
    for (const match of changed) {
      const held = await lockOne(match.key, plan.idType, context)
      if (held && isMatch(match, held.stored))
        await remove([{ key: match.key, version: held.stored.version }], plan.idType, context)
    }
  }
}

/** Deletes and reports the documents that have not changed since they were matched, and returns their keys. */
async function remove(batch: readonly Match[], idType: TypeName, context: WriteContext) {
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
  if (captured.length > 0) await transaction.query(goneStatement(captured))
  if (keepsHistory(table) && rows.length > 0) await keepGone(rows, batch, context)
  for (const _ of rows) report({ kind: 'deleted' })
  return new Set(keys)
}

async function keepGone(
  rows: readonly Row[],
  batch: readonly Match[],
  { transaction, table, stamp }: WriteContext,
): Promise<void> {
  const versions = new Map(batch.map(({ key, version }) => [key, version]))
  const gone = rows.map(([key, text, paths]) => {
    const seen = versions.get(key!)!
    // In history, a delete has a version too, later than the one that it replaces even if the clock was set
    // back.
    const version = Math.max(stamp.version, seen + 1)
    return { key: key!, text: text!, paths: Number(paths), seen, version }
  })
  await transaction.query(historyDeletedStatement(gone, stamp.principal, table))
}

function capturedOf(
  rows: readonly Row[],
  batch: readonly Match[],
  { idType, captureChange }: { readonly idType: TypeName; readonly captureChange: CaptureChange },
): readonly Gone[] {
  const versions = new Map(batch.map(({ key, version }) => [key, version]))
  const all = rows.map((row): Gone => {
    const [key, text] = [row[0]!, row[1]!]
    const document = isText(idType) ? key : idTextIn(text)
    const outboxEntries = captureChange({ operation: 'delete', before: { text } })
    return { key, document, version: versions.get(key)!, text, outboxEntries }
  })
  return all.filter(({ outboxEntries }) => outboxEntries.length > 0)
}

function idTextIn(text: string): string {
  const id = (parseTrusted(text) as JsonObject)['_id']!
  return typeof id === 'string' ? id : JSON.stringify(id)
}
