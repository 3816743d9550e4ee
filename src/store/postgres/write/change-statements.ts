/**
 * The statements of a change: one on a single server, where all records of the change are parts of it; several on a
 * cluster, each for the node of its rows. They run in one transaction, and the first one decides: it returns the key if
 * the document still has the version that was read.
 */
import type { Statement } from '../../sql/fragment.ts'
import type { Table } from '../schema/catalogue.ts'
import type { SqlSession } from '../connection/connection.ts'
import type { Row } from '../connection/connections.ts'
import { type DeletedRow, historyDeletedStatement, keepsHistory } from './history-rows.ts'
import { type CapturedChange, type Gone, goneStatement } from './outbox-rows.ts'
import {
  claimStatement,
  deleteStatement,
  insertStatement,
  recordedDeleteStatement,
  recordedUpdateStatement,
  updateStatement,
} from './row-statements.ts'
import {
  recordsOfUpdate,
  routedClaims,
  routedHistoryOfDeleted,
  routedInsert,
  routedOutboxOfDeleted,
} from './routed-statements.ts'
import type { ChangedRow, NewRow, Stamp } from './rows.ts'

export function insertStatements(rows: readonly NewRow[], table: Table): readonly Statement[] {
  return table.isDistributed ? routedInsert(rows, table) : [insertStatement(rows, table)]
}

export function updateStatements(row: ChangedRow, table: Table): readonly Statement[] {
  return table.isDistributed
    ? [updateStatement(row, table), ...recordsOfUpdate(row, table)]
    : [recordedUpdateStatement(row, table)]
}

/** One document, with its records. */
export function deleteStatements(
  captured: CapturedChange,
  deleted: DeletedRow,
  { stamp, table }: { readonly stamp: Stamp; readonly table: Table },
): readonly Statement[] {
  const { key, seen, text } = deleted
  const isRecorded = captured.outboxEntries.length > 0 || keepsHistory(table)
  if (isRecorded && !table.isDistributed) return [recordedDeleteStatement(captured, seen, { stamp, table })]
  return [
    deleteStatement([{ key, version: seen }], table),
    ...(captured.outboxEntries.length > 0
      ? outboxStatements([{ ...captured, version: seen, text }], table)
      : []),
    ...(keepsHistory(table) ? historyStatements([deleted], stamp.principal, table) : []),
  ]
}

/** The outbox entries of documents that an earlier statement deleted. */
export function outboxStatements(gone: readonly Gone[], table: Table): readonly Statement[] {
  return table.isDistributed ? routedOutboxOfDeleted(gone) : [goneStatement(gone)]
}

/** The same for their history. */
export function historyStatements(
  deleted: readonly DeletedRow[],
  principal: string,
  table: Table,
): readonly Statement[] {
  return table.isDistributed
    ? routedHistoryOfDeleted(deleted, principal, table)
    : [historyDeletedStatement(deleted, principal, table)]
}

export function claimStatements(
  claims: ReadonlySet<string>,
  key: string,
  table: Table,
): readonly Statement[] {
  return table.isDistributed
    ? routedClaims(
        [...claims].map((claim) => ({ claim, key })),
        table,
      )
    : [claimStatement(claims, key, table)]
}

/** Sends all statements without waiting for each other, and returns the rows of the first one. */
export async function runAll(session: SqlSession, statements: readonly Statement[]): Promise<readonly Row[]> {
  const running = statements.map((statement) => session.query(statement))
  // The connection is free only when all have ended, even if one fails.
  await Promise.allSettled(running)
  return (await Promise.all(running))[0] ?? []
}
