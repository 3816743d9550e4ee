/** Inserts all documents in one statement, or one after the other when keys repeat. */
import type { InsertPlan } from '../../../plan/plan.ts'
import type { Report } from '../../store.ts'
import type { Table } from '../schema/catalogue.ts'
import { type WriteContext, insertOne } from './row-by-row.ts'
import { following } from './history-rows.ts'
import { insertStatements, runAll } from './change-statements.ts'
import { type NewRow, type Stamp, newRow } from './rows.ts'

export function newRows({ documents }: InsertPlan, stamp: Stamp, table: Table): readonly NewRow[] {
  return documents.map((document) => newRow(document, stamp, table))
}

/** Whether one statement can insert all documents, because no key and no claim repeats among them. */
export function areDistinct(rows: readonly NewRow[]): boolean {
  const keys = new Set(rows.map(({ key }) => key))
  const claims = new Set(rows.flatMap((row) => [...row.claims]))
  const count = rows.reduce((sum, row) => sum + row.claims.size, 0)
  return keys.size === rows.length && claims.size === count
}

export function reportInserted(rows: readonly NewRow[], report: Report): void {
  rows.forEach(({ document }, i) => report({ kind: 'inserted', document }, i))
}

export async function insertAll(plan: InsertPlan, context: WriteContext): Promise<void> {
  const { transaction, table, report } = context
  const rows = await following(newRows(plan, context.stamp, table), table, transaction)
  const isDone = await transaction.attempt(async () => {
    if (!areDistinct(rows)) return undefined
    await runAll(transaction, insertStatements(rows, table))
    return true
  })
  if (isDone) reportInserted(rows, report)
  else for (const [i, row] of rows.entries()) report(await insertOne(row, context), i)
}
