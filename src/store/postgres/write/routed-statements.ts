/**
 * Statements that write documents on a cluster. A document, its history and its outbox entries are on one node: each
 * statement names its rows by key and goes to that node alone, so that the transaction commits there without a second
 * phase. Only claims may be on other nodes.
 */
import type { SqlValue, Statement } from '../../sql/fragment.ts'
import type { Table } from '../schema/catalogue.ts'
import { columnListText } from '../schema/columns.ts'
import { type DeletedRow, HISTORY_COLUMNS, idOnly, keepsHistory } from './history-rows.ts'
import { insertValues } from '../schema/insert-values.ts'
import { type CapturedChange, type Gone, OUTBOX_COLUMNS, holderIn } from './outbox-rows.ts'
import type { ChangedRow, NewRow } from './rows.ts'

/** In the order of keys, like every write, so that no two of them deadlock on one node. */
export function routedInsert(rows: readonly NewRow[], table: Table): readonly Statement[] {
  const inOrder = rows.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const documents = inOrder.map(({ key, columns, document: { version, paths, text } }) => [
    key,
    version,
    paths ?? 0,
    text,
    ...columns,
  ])
  const claims = inOrder.flatMap((row) => [...row.claims].map((claim) => ({ claim, key: row.key })))
  const entries = inOrder.flatMap((row) =>
    outboxRows(capturedOf(row), { version: row.document.version, after: row.document.text }),
  )
  return [
    ...routedClaims(claims, table),
    ...insertValues(`${table.name}(id, version, paths, doc${columnListText(table.layout)})`, documents),
    ...insertValues(OUTBOX_COLUMNS, entries),
    ...historyStatements('insert', () => inOrder.map(beforeInsert), table),
  ]
}

function capturedOf({ key, document, outboxEntries }: NewRow | ChangedRow): CapturedChange {
  return { key, document: document.id, outboxEntries }
}

export function routedClaims(
  claims: readonly { readonly claim: string; readonly key: string }[],
  table: Table,
): readonly Statement[] {
  const rows = claims.toSorted((a, b) => (a.claim < b.claim ? -1 : 1)).map(({ claim, key }) => [claim, key])
  return insertValues(`${table.claims}(key, doc)`, rows)
}

/** What follows the update itself. */
export function recordsOfUpdate(row: ChangedRow, table: Table): readonly Statement[] {
  const { key, seen, document, principal } = row
  const states = {
    seen: seen.version,
    version: document.version,
    before: seen.text,
    after: document.text,
  }
  const change = {
    key,
    seen: seen.version,
    version: document.version,
    principal,
    paths: seen.paths ?? 0,
    text: seen.text,
  }
  return [
    ...insertValues(OUTBOX_COLUMNS, outboxRows(capturedOf(row), states)),
    ...historyStatements('update', () => [change], table),
  ]
}

/** Outbox entries of documents that an earlier statement of the transaction deletes. */
export function routedOutboxOfDeleted(gone: readonly Gone[]): readonly Statement[] {
  const rows = gone.flatMap((each) => outboxRows(each, { seen: each.version, before: each.text }))
  return insertValues(OUTBOX_COLUMNS, rows)
}

export function routedHistoryOfDeleted(
  deleted: readonly DeletedRow[],
  principal: string,
  table: Table,
): readonly Statement[] {
  return historyStatements('delete', () => deleted.map((each) => ({ ...each, principal })), table)
}

/** A row of history: the state before a change. */
interface HistoryRow extends DeletedRow {
  readonly principal: string
}

function beforeInsert(row: NewRow): HistoryRow {
  const { key, document, principal, follows = 0 } = row
  return {
    key,
    seen: follows,
    version: document.version,
    principal,
    paths: document.paths ?? 0,
    text: idOnly(row),
  }
}

/** The rows are made only if history is kept: those of inserts parse the documents. */
function historyStatements(
  operation: string,
  rows: () => readonly HistoryRow[],
  table: Table,
): readonly Statement[] {
  if (!keepsHistory(table)) return []
  return insertValues(
    `${table.past!.name}(${HISTORY_COLUMNS})`,
    rows().map(({ key, seen, version, principal, paths, text }) => [
      key,
      seen,
      version,
      operation,
      principal,
      paths,
      text,
    ]),
  )
}

/** The versions and texts of a document before and after the change. */
interface States {
  readonly seen?: number
  readonly version?: number
  readonly before?: string
  readonly after?: string
}

/** Texts of documents go only into the entries that store them for the others. */
function outboxRows(
  { key, document, outboxEntries }: CapturedChange,
  { seen = null, version = null, before = null, after = null }: Absent<States>,
): readonly (readonly SqlValue[])[] {
  return outboxEntries.map(({ id, entity, hook, operation, at, details }, i) => {
    const holder = holderIn(outboxEntries, i)
    const texts = holder === '' ? [before, after, null] : [null, null, holder]
    return [key, id, entity, hook, operation, document, at, seen, version, details, ...texts]
  })
}

type Absent<T> = { readonly [K in keyof T]: T[K] | null }
