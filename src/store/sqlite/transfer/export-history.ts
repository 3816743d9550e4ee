/** Exports and imports the history of documents. */
import type { DatabaseSync } from 'node:sqlite'
import { orderKey } from '../../../base/decimal.ts'
import { type ExportedChange, type ExportedDocument, PAGE } from '../../transfer.ts'
import type { Action } from '../../events.ts'
import type { SqlValue } from '../../sql/fragment.ts'

/** `table` is undefined where history was never recorded. */
export async function* exportedHistory(
  database: DatabaseSync,
  table: string | undefined,
): AsyncGenerator<readonly ExportedChange[]> {
  if (table === undefined) return
  for (let last = 0n; ;) {
    const page = changesAfter(database, table, last)
    if (page.changes.length === 0) return
    last = page.last
    yield page.changes
  }
}

function changesAfter(database: DatabaseSync, table: string, last: bigint) {
  const statement = database.prepare(
    `select no, id, follows, version, operation, principal, doc from ${table} where no > ? order by no limit ?`,
  )
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  const changes: ExportedChange[] = []
  let characters = 0
  let reached = last
  const rows = statement.iterate(last, PAGE.documents) as unknown as Iterable<Row>
  for (const [no, id, follows, version, operation, principal, text] of rows) {
    const key = typeof id === 'string' ? id : orderKey(String(id))!
    changes.push({ key, follows: Number(follows), version: Number(version), operation, principal, text })
    reached = no
    characters += text.length
    if (characters > PAGE.characters) break
  }
  return { changes, last: reached }
}

type Row = readonly [
  no: bigint,
  id: string | number | bigint,
  follows: bigint,
  version: bigint,
  operation: Action,
  principal: string,
  text: string,
]

interface Adding {
  readonly changes: readonly ExportedChange[]
  /** The value for the `_id` column. */
  readonly idOf: (document: Pick<ExportedDocument, 'key' | 'text'>) => SqlValue
}

export function addDocumentHistory(database: DatabaseSync, table: string, { changes, idOf }: Adding): void {
  const insert = database.prepare(
    `insert into ${table}(id, follows, version, operation, principal, doc) values (?, ?, ?, ?, ?, ?)`,
  )
  for (const change of changes) {
    const { follows, version, operation, principal, text } = change
    insert.run(idOf(change), follows, version, operation, principal, text)
  }
}
