/**
 * Enters documents that are older than a column into it, in small transactions, while others go on writing. They
 * fill the column themselves, so a document that changes meanwhile is left alone. Until all are entered, the text
 * answers. Every batch records how far it came, and any process continues where another one has ended.
 *
 * A table of an earlier release also gets its indexes again, on columns. Then its second copy of the documents is
 * dropped.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '../../../base/json/json.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import { type Statement, param, raw, renderShared, sql } from '../../sql/fragment.ts'
import { POSTGRES } from '../../sql/postgres-dialect.ts'
import { tryLock, unlock } from '../connection/advisory-locks.ts'
import type { Connection, SqlSession } from '../connection/connection.ts'
import type { Row } from '../connection/connections.ts'
import { isDeadlock, isOutdated } from '../connection/failures.ts'
import { type Transaction, inTransaction } from '../connection/transaction.ts'
import {
  type CollectionRecord,
  type IndexRecord,
  readCollections,
  readIndexes,
  tableName,
} from './catalogue.ts'
import { addColumns, analyze, impatiently, putLayout, renameTable } from './collections.ts'
import { EARLIER, type Layout, columnChanges, columnTexts, isComplete } from './columns.ts'
import { dropStatements, indexStatements, rebuiltName } from './indexes.ts'
import type { Builder } from './builder.ts'
import { lockMetadata } from './metadata-lock.ts'
import { RETRY_MS, asOnlyBuild } from './one-build.ts'

interface Filling extends Builder {
  /** Whether to end before everything is entered; the next process goes on. */
  readonly isStopped?: () => boolean
}

/**
 * Fills the columns of a collection, or waits until another process has done so. It does not wait for the lock in the
 * server: the process that has the lock builds indexes concurrently, and such a build waits for every older statement.
 */
export async function fillColumns(no: number, filling: Filling): Promise<void> {
  while (!(await tryToFill(no, filling))) await pause(PAUSE_MS)
}

/** Fills the columns, unless another process is at it. Returns whether nothing is left to do. */
export async function tryToFill(no: number, filling: Filling): Promise<boolean> {
  using lease = await filling.connections.lease()
  const lock = lockOf(no, filling)
  if (!(await tryLock(lease.connection, lock))) return false
  try {
    await fill(no, lease.connection, filling)
  } finally {
    await unlock(lease.connection, lock).catch(() => undefined)
  }
  await filling.reload()
  return true
}

function lockOf(no: number, { schema }: Builder): string {
  return `filling of ${schema}/${no}`
}

async function fill(no: number, connection: Connection, filling: Filling): Promise<void> {
  const rebuilt = new Set<number>()
  let deadlocks = 0
  while (filling.isStopped?.() !== true) {
    const record = await adopted(no, filling)
    if (!record || isComplete(record.layout)) return
    try {
      const isEntered = await enterAll(record, filling)
      if (!isEntered) return
      const isBuilt =
        !record.layout.hasBody || (await rebuildIndexes(record, rebuilt, { connection, filling }))
      if (!isBuilt) return
      if (await complete(record, rebuilt, filling)) return
    } catch (error) {
      // The table was renamed by another change, which may have added columns. Or a process of an earlier release builds an
      // index on the same table, which is a deadlock on a cluster.
      const mayRepeat = isOutdated(error) || (isDeadlock(error) && ++deadlocks <= MAX_DEADLOCKS)
      if (!mayRepeat) throw error
    }
    await pause(PAUSE_MS)
  }
}

const PAUSE_MS = 50
const MAX_DEADLOCKS = 10

async function recordOf(no: number, session: SqlSession): Promise<CollectionRecord | undefined> {
  return (await readCollections(session)).find((each) => each.no === no)
}

/** The record of a collection, with columns: a table of an earlier release gets them here. */
async function adopted(no: number, { connections, schema }: Builder): Promise<CollectionRecord | undefined> {
  const found = await recordOf(no, connections)
  if (found?.layout !== EARLIER) return found
  return await inTransaction(connections, async (transaction) => {
    await lockMetadata(transaction, schema)
    const record = await recordOf(no, transaction)
    if (record?.layout !== EARLIER) return record
    const indexes = await indexesOf(no, transaction)
    const definitions = indexes.map(({ definition }) => definition)
    return await addColumns(transaction, record, { paths: [], indexes: definitions })
  })
}

async function indexesOf(no: number, session: SqlSession): Promise<readonly IndexRecord[]> {
  return (await readIndexes(session)).filter(({ collection }) => collection === no)
}

/** Returns false if it was stopped before the end. */
async function enterAll(record: CollectionRecord, { connections, isStopped }: Filling): Promise<boolean> {
  const { layout } = record
  const pending = { ...layout, columns: layout.columns.filter(({ isFilled }) => !isFilled) }
  if (pending.columns.length === 0) return true
  for (let limit = FIRST_BATCH; ;) {
    if (isStopped?.() === true) return false
    const rows = await inTransaction(connections, (transaction) =>
      enterBatch(transaction, { record, pending, limit }),
    )
    if (rows.length === 0) return true
    limit = limitAfter(rows)
  }
}

export const FIRST_BATCH = 16
const MAX_BATCH = 200
const BATCH_CHARACTERS = 1_000_000

/** The size of documents is known only after they are read. Rows have the text in their third column. */
export function limitAfter(rows: readonly Row[]): number {
  const characters = rows.reduce((sum, [, , text]) => sum + text!.length, 0)
  const fitting = Math.floor((BATCH_CHARACTERS * rows.length) / Math.max(characters, 1))
  return Math.max(1, Math.min(fitting, rows.length * 4, MAX_BATCH))
}

interface Batch {
  readonly record: CollectionRecord
  /** The columns that are not filled yet. */
  readonly pending: Layout
  readonly limit: number
}

async function enterBatch(
  transaction: Transaction,
  { record, pending, limit }: Batch,
): Promise<readonly Row[]> {
  const table = tableName(record)
  const [last] = await transaction.query({
    text: 'select position from smalt_fill where collection = $1',
    values: [record.no],
  })
  const from = `select id, version, doc from ${table}`
  const rows = await transaction.query(
    last
      ? { text: `${from} where id > $2 order by id limit $1`, values: [limit, last[0]!] }
      : { text: `${from} order by id limit $1`, values: [limit] },
  )
  if (rows.length === 0) return rows
  const entered = rows.map((row) => enterStatement(row, table, pending))
  await Promise.all(entered.map((statement) => transaction.query(statement)))
  const position = `insert into smalt_fill(collection, position) values ($1, $2)
    on conflict (collection) do update set position = excluded.position`
  await transaction.query({ text: position, values: [record.no, rows.at(-1)![0]!] })
  return rows
}

/** A document with another version by now was written with its columns. */
function enterStatement([id, version, doc]: Row, table: string, pending: Layout): Statement {
  const texts = columnTexts(parseTrusted(doc!) as JsonObject, pending)
  const changes = columnChanges(texts, pending)
  const update = sql`update ${raw(table)} set version = version${changes}
    where id = ${param(id!)} and version = ${param(version!)}`
  return renderShared(update, POSTGRES.placeholder)
}

/** Builds every index of an earlier release again on columns, under another name. Returns whether all are built. */
async function rebuildIndexes(
  record: CollectionRecord,
  rebuilt: Set<number>,
  { connection, filling }: { readonly connection: Connection; readonly filling: Filling },
): Promise<boolean> {
  const indexes = await indexesOf(record.no, connection)
  const layout = { hasBody: false, columns: filled(record.layout) }
  for (const { no, definition, isReady } of indexes) {
    if (!isReady || rebuilt.has(no)) continue
    const name = rebuiltName(`idx_${no}`)
    // A process that died may have left one half built.
    const drops = [name, `${name}_elements`].map((each) => `drop index concurrently if exists ${each}`)
    const table = tableName(record)
    const builds = indexStatements(definition, { table, name, layout, concurrently: true })
    const isBuilt = await asOnlyBuild(connection, { ...filling, record }, async () => {
      for (const text of [...drops, ...builds]) await connection.query({ text, values: [] })
    })
    if (!isBuilt) return false
    rebuilt.add(no)
    // A change of metadata that waits for its turn goes first.
    await pause(2 * RETRY_MS)
  }
  return await asOnlyBuild(connection, { ...filling, record }, () => analyze(connection, record))
}

function filled(layout: Layout): Layout['columns'] {
  return layout.columns.map((each) => ({ ...each, isFilled: true }))
}

/**
 * Lets queries use the columns: the new name of the table makes all processes read the catalogue again. Returns
 * false if the columns or the indexes have changed meanwhile.
 */
async function complete(
  record: CollectionRecord,
  rebuilt: ReadonlySet<number>,
  { connections, schema }: Builder,
): Promise<boolean> {
  return await inTransaction(connections, async (transaction) => {
    await lockMetadata(transaction, schema)
    const found = await recordOf(record.no, transaction)
    if (found?.generation !== record.generation) return false
    const { hasBody } = found.layout
    const indexes = await indexesOf(found.no, transaction)
    if (hasBody && indexes.some(({ no }) => !rebuilt.has(no))) return false
    const renamed = await renameTable(transaction, found)
    if (hasBody) {
      const old = indexes.flatMap(({ no }) => dropStatements(`idx_${no}`, { isRebuilt: true }))
      await impatiently(transaction, [...old, `alter table ${tableName(renamed)} drop column body`])
    }
    await putLayout(transaction, renamed, { hasBody: false, columns: filled(found.layout) })
    await transaction.query({ text: 'delete from smalt_fill where collection = $1', values: [found.no] })
    return true
  })
}
