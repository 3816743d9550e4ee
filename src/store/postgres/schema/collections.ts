/** Creates and changes the tables and indexes of collections. */
import type { Collection, IndexDefinition } from '../../../schema/schema.ts'
import { canonicalText } from '../../sql/describe-index.ts'
import type { CollectionDefinition } from '../../metadata-records.ts'
import {
  type CollectionRecord,
  type IndexRecord,
  claimsName,
  historyTableName,
  readCollections,
  readIndexes,
  tableName,
} from './catalogue.ts'
import { distribute } from './cluster.ts'
import type { SqlSession } from '../connection/connection.ts'
import { BusyError, isCancelled } from '../connection/failures.ts'
import { type Column, columnOf, missingColumns } from '../../layout/columns.ts'
import { EARLIER, type Layout, RULES, addingStatement, columnDefinition, printLayout } from './columns.ts'
import { dropStatements, indexStatements } from './indexes.ts'

/** The indexes to build and to drop, so that a collection has the requested ones. */
interface IndexChanges {
  readonly added: readonly IndexDefinition[]
  readonly removed: readonly IndexRecord[]
}

export async function findCollection(
  session: SqlSession,
  { name, entity }: Collection,
): Promise<CollectionRecord | undefined> {
  const all = await readCollections(session)
  return all.find((each) => each.name === name && each.entity === entity)
}

/** Indexes that did not change are not rebuilt. */
export async function indexChanges(
  session: SqlSession,
  { no }: CollectionRecord,
  wanted: readonly IndexDefinition[],
): Promise<IndexChanges> {
  const missing = new Map(wanted.map((index) => [canonicalText(index), index]))
  const records = (await readIndexes(session)).filter(({ collection }) => collection === no)
  const removed = records.filter(
    ({ definition, isReady }) => !isReady || !missing.delete(canonicalText(definition)),
  )
  return { added: [...missing.values()], removed }
}

/**
 * The columns of a new table precede the text, so that a condition on them does not have to read past it. Columns that are
 * added later follow it.
 */
export async function createCollection(
  session: SqlSession,
  { collection: { name, entity }, ...wanted }: Pick<CollectionDefinition, 'collection' | 'paths' | 'indexes'>,
): Promise<CollectionRecord> {
  const no = await nextNumber(session)
  const paths = [...new Set(wanted.paths)]
  const columns = await newColumns(session, [], { ...wanted, paths, isFilled: true })
  const layout = { hasBody: false, columns }
  const record = { no, name, entity, generation: 1, paths, layout, hasHistory: false }
  // `doc` is the text that reads return. The free part of each page lets an update that changes no indexed
  // value stay on its page, so that it needs no new index entries.
  await run(session, [
    `create table ${tableName(record)}(
       id text collate "C" primary key, version bigint not null, paths integer not null,
       ${columns.map((each) => `${columnDefinition(each)}, `).join('')}doc text not null)
       with (toast_tuple_target = 4080, fillfactor = ${FILL_PERCENT})`,
    // One row for each unique value. On a cluster, a table can only be unique in its distribution column.
    `create table ${claimsName(record)}(key text collate "C" primary key, doc text collate "C" not null)`,
    distribute(tableName(record), 'id'),
    distribute(claimsName(record), 'key'),
  ])
  const text = `insert into smalt_collection(no, name, entity, generation, paths, layout)
    values ($1, $2, $3, 1, $4, $5)`
  await session.query({
    text,
    values: [no, name, entity, JSON.stringify(paths), printLayout(layout)],
  })
  return record
}

// With 90, documents of 1 KB leave a quarter of each page empty, which scans read, and updates are not faster.
const FILL_PERCENT = 95

/**
 * Adds the columns that the collection lacks. Writers of other processes fill them from here on: the new name of
 * the table makes them read the catalogue again. Documents that are there already are entered later.
 */
export async function addColumns(
  session: SqlSession,
  record: CollectionRecord,
  { paths, indexes }: Pick<CollectionDefinition, 'paths' | 'indexes'>,
): Promise<CollectionRecord> {
  const all = [...new Set([...record.paths, ...paths])]
  const added = await newColumns(session, record.layout.columns, { paths: all, indexes, isFilled: false })
  if (added.length === 0 && record.layout !== EARLIER) return record
  const grown = { ...record, layout: { ...record.layout, columns: [...record.layout.columns, ...added] } }
  if (added.length > 0) await impatiently(session, [addingStatement(tableName(record), added)])
  const renamed = await renameTable(session, grown, tableName(record))
  // Nobody else can write before this transaction ends, so an empty table stays empty.
  const isFilled = !record.layout.hasBody && (await isEmpty(session, renamed))
  const { layout } = renamed
  const columns = isFilled ? layout.columns.map((each) => ({ ...each, isFilled })) : layout.columns
  await session.query({ text: 'delete from smalt_fill where collection = $1', values: [record.no] })
  return await putLayout(session, renamed, { ...layout, columns })
}

interface Wanted extends Pick<CollectionDefinition, 'paths' | 'indexes'> {
  readonly isFilled: boolean
}

async function newColumns(
  session: SqlSession,
  existing: readonly Column[],
  { isFilled, ...wanted }: Wanted,
): Promise<readonly Column[]> {
  const columns: Column[] = []
  for (const definition of missingColumns(existing, wanted, RULES)) {
    columns.push(columnOf(definition, { no: await nextNumber(session), isFilled }))
  }
  return columns
}

export async function putLayout(
  session: SqlSession,
  record: CollectionRecord,
  layout: Layout,
): Promise<CollectionRecord> {
  const text = 'update smalt_collection set layout = $1 where no = $2'
  await session.query({ text, values: [printLayout(layout), record.no] })
  return { ...record, layout }
}

/** Paths are only added: the store remembers every path that was ever defined. */
export async function addPaths(
  session: SqlSession,
  record: CollectionRecord,
  { paths }: CollectionDefinition,
): Promise<void> {
  const all = [...new Set([...record.paths, ...paths])]
  const text = 'update smalt_collection set paths = $1 where no = $2'
  await session.query({ text, values: [JSON.stringify(all), record.no] })
}

/** Creates the history table. By its primary key, no two changes of a document follow the same version. */
export async function createHistory(session: SqlSession, record: CollectionRecord): Promise<void> {
  const name = historyTableName(record)
  await run(session, [
    `create table ${name}(
       id text collate "C", follows bigint, version bigint not null, operation text not null,
       principal text not null, paths integer not null, doc text not null, primary key (id, follows))`,
    distribute(name, 'id'),
  ])
}

/** Enables history from a timestamp on; undefined disables it. */
export async function putHistorySince(
  session: SqlSession,
  { no }: CollectionRecord,
  since: number | undefined,
): Promise<void> {
  const text = 'update smalt_collection set has_past = true, past_since = $1 where no = $2'
  await session.query({ text, values: [since ?? null, no] })
}

/** The first timestamp from which history is complete: later than every version written so far. */
export async function beginningOf(
  session: SqlSession,
  record: CollectionRecord,
  now: number,
): Promise<number> {
  let latest = now
  for (const table of [tableName(record), historyTableName(record)]) {
    const [row] = await session.query({ text: `select max(version) from ${table}`, values: [] })
    latest = Math.max(latest, Number(row![0] ?? 0) + 1)
  }
  return latest
}

/**
 * From here on, a process with outdated unique indexes, columns or an outdated history setting fails to write,
 * and reads the catalogue again.
 */
export async function renameTable(
  session: SqlSession,
  record: CollectionRecord,
  name = tableName(record),
): Promise<CollectionRecord> {
  const renamed = { ...record, generation: record.generation + 1 }
  await impatiently(session, [`alter table ${name} rename to ${tableName(renamed)}`])
  const text = 'update smalt_collection set generation = $1 where no = $2'
  await session.query({ text, values: [renamed.generation, record.no] })
  return renamed
}

export async function isEmpty(session: SqlSession, record: CollectionRecord): Promise<boolean> {
  const rows = await session.query({ text: `select 1 from ${tableName(record)} limit 1`, values: [] })
  return rows.length === 0
}

export async function addIndexRecord(
  session: SqlSession,
  { no: collection }: CollectionRecord,
  { definition, state }: { readonly definition: IndexDefinition; readonly state: 'ready' | 'building' },
): Promise<IndexRecord> {
  const no = await nextNumber(session)
  const text = 'insert into smalt_index(no, collection, definition, state) values ($1, $2, $3, $4)'
  await session.query({ text, values: [no, collection, canonicalText(definition), state] })
  return { no, collection, definition, isReady: state === 'ready' }
}

export async function buildIndex(
  session: SqlSession,
  { no, definition }: IndexRecord,
  { record, concurrently }: { readonly record: CollectionRecord; readonly concurrently: boolean },
): Promise<void> {
  const { layout } = record
  const table = tableName(record)
  await run(session, indexStatements(definition, { table, name: `idx_${no}`, layout, concurrently }))
}

export async function analyze(session: SqlSession, record: CollectionRecord): Promise<void> {
  await run(session, [`analyze ${tableName(record)}`])
}

export async function dropIndex(
  session: SqlSession,
  { no, definition }: IndexRecord,
  record: CollectionRecord,
): Promise<void> {
  await impatiently(session, dropStatements(`idx_${no}`))
  if (definition.unique) {
    // The key of a claim begins with the number of its index and a colon. The semicolon is the character
    // after the colon.
    const text = `delete from ${claimsName(record)} where key >= $1 and key < $2`
    await session.query({ text, values: [`${no}:`, `${no};`] })
  }
  await session.query({ text: 'delete from smalt_index where no = $1', values: [no] })
}

/** Numbers of tables and indexes are never reused. */
async function nextNumber(session: SqlSession): Promise<number> {
  const text = 'update smalt_epoch set last_number = last_number + 1 where one = 1 returning last_number'
  const [row] = await session.query({ text, values: [] })
  return Number(row![0])
}

/**
 * Runs statements that need an exclusive lock on a table. While one waits for the lock, all later statements
 * on the table wait behind it. So it gives up soon, as a collision, and the transaction is repeated a little
 * later.
 */
export async function impatiently(session: SqlSession, statements: readonly string[]): Promise<void> {
  await run(session, [`set local statement_timeout = '200ms'`])
  try {
    await run(session, statements)
  } catch (error) {
    throw isCancelled(error) ? new BusyError() : error
  }
  await run(session, ['set local statement_timeout = 0'])
}

async function run(session: SqlSession, statements: readonly string[]): Promise<void> {
  for (const text of statements) await session.query({ text, values: [] })
}
