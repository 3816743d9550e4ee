/** Deletes: every document that matches goes, with the unique values it held. */
import type { DeletePlan } from '../../plan/plan.ts'
import { type Match, batchesOf, matching, stillMatches } from './matching.ts'
import { type WriteContext, lockOne } from './one-document.ts'
import { claimsOfTexts, deleteStatement, releaseStatement } from './rows.ts'

export async function deleteAll(plan: DeletePlan, context: WriteContext): Promise<void> {
  const isMatch = stillMatches(plan.query)
  for (const batch of batchesOf(await matching(plan, context), 1000)) {
    const gone = await remove(batch, context)
    const changed = batch.filter(({ key }) => !gone.has(key))
    for (const match of changed) {
      const held = await lockOne(match.key, plan.idType, context)
      if (held && isMatch(match, held.stored))
        await remove([{ key: match.key, version: held.stored.version }], context)
    }
  }
}

/** Reports those that were still what was seen, and gives their keys. */
async function remove(batch: readonly Match[], { transaction, table, report }: WriteContext) {
  const rows = await transaction.ask(deleteStatement(batch, table))
  const claims = claimsOfTexts(
    rows.map((row) => row[1]!),
    table,
  )
  const keys = rows.map(([key]) => key!)
  if (claims.size > 0) await transaction.ask(releaseStatement(claims, keys, table))
  for (const _ of rows) report({ kind: 'deleted' })
  return new Set(keys)
}
