/**
 * Builds indexes on collections that contain documents, while others go on writing. The record of such an
 * index has the state `building`: writers maintain it from then on, and no query uses it yet. The metadata
 * that needs it changes only when it is complete. An index left half built by a process that died is dropped
 * by the next process that starts or changes metadata.
 */
import { ServiceError } from '../../../base/errors.ts'
import type { IndexDefinition } from '../../../schema/schema.ts'
import type { CollectionDefinition } from '../../metadata-records.ts'
import { tryLock, unlock } from '../connection/advisory-locks.ts'
import { type CollectionRecord, type IndexRecord, readCollections, readIndexes } from './catalogue.ts'
import {
  addColumns,
  addIndexRecord,
  addPaths,
  analyze,
  beginningOf,
  buildIndex,
  createCollection,
  createHistory,
  dropIndex,
  findCollection,
  indexChanges,
  isEmpty,
  putHistorySince,
  renameTable,
} from './collections.ts'
import type { Connection, SqlSession } from '../connection/connection.ts'
import { enterClaims } from './backfill-claims.ts'
import type { Builder } from './builder.ts'
import { fillColumns } from './column-fill.ts'
import { isCollision } from '../connection/failures.ts'
import { isComplete } from './columns.ts'
import { lockMetadata } from './metadata-lock.ts'
import { asOnlyBuild } from './one-build.ts'
import { type Transaction, inTransaction } from '../connection/transaction.ts'

/**
 * Inside the transaction that changes metadata: everything that can be done at once, because no writer has to
 * wait for it.
 */
export async function prepare(
  transaction: Transaction,
  definition: CollectionDefinition,
  { built, now }: { readonly built: readonly IndexRecord[] } & Pick<Builder, 'now'>,
): Promise<void> {
  const { collection, indexes, history = false } = definition
  const found = await findCollection(transaction, collection)
  let record = found
    ? await growCollection(transaction, found, definition)
    : await createCollection(transaction, definition)
  for (const { no } of built) {
    await transaction.query({ text: `update smalt_index set state = 'ready' where no = $1`, values: [no] })
  }
  const { added, removed } = await indexChanges(transaction, record, indexes)
  // An index that is not ready belongs to another process, which drops it itself.
  const dropped = removed.filter(({ isReady }) => isReady)
  for (const index of dropped) await dropIndex(transaction, index, record)
  const isUnique = [...added, ...dropped.map(({ definition: each }) => each)].some(({ unique }) => unique)
  const isHistoryNew = history !== (record.historySince !== undefined)
  if (found && (isUnique || isHistoryNew)) record = await renameTable(transaction, record)
  if (isHistoryNew) await changeHistory(transaction, record, history ? now() : undefined)
  if (found && added.length > 0 && !(await isEmpty(transaction, record))) throw new FilledMeanwhile()
  for (const index of added) {
    const made = await addIndexRecord(transaction, record, { definition: index, state: 'ready' })
    await buildIndex(transaction, made, { record, concurrently: false })
  }
}

async function growCollection(
  transaction: Transaction,
  record: CollectionRecord,
  definition: CollectionDefinition,
): Promise<CollectionRecord> {
  await addPaths(transaction, record, definition)
  return await addColumns(transaction, record, definition)
}

/** Existing history stays. After a time without history, it is complete only from now on. */
async function changeHistory(
  transaction: Transaction,
  record: CollectionRecord,
  now: number | undefined,
): Promise<void> {
  if (!record.hasHistory) await createHistory(transaction, record)
  const since = now === undefined ? undefined : await beginningOf(transaction, record, now)
  await putHistorySince(transaction, record, since)
}

/** The table was empty when the indexes to build ahead were determined, and now it has documents. */
export class FilledMeanwhile extends Error {}

/** Before the transaction: builds the indexes that must be built beside writers, and returns their records. */
export async function buildAhead(
  definition: CollectionDefinition,
  builder: Builder,
): Promise<readonly IndexRecord[]> {
  await forEachLeftover(builder, (index) => discard([index], builder))
  const missing = await inTransaction(builder.connections, (transaction) =>
    missingIn(transaction, definition),
  )
  if (!missing) return []
  // Only a column holds words, and a table of an earlier release has none yet.
  if (missing.record.layout.hasBody && missing.added.some(({ kind }) => kind === 'text')) {
    await fillColumns(missing.record.no, builder)
  }
  using lease = await builder.connections.lease()
  const lock = lockOf(missing.record, builder)
  // Locked before the index is announced: an index in the state `building` without this lock was left behind.
  if (!(await tryLock(lease.connection, lock))) throw builtByOthers(definition)
  try {
    return await announceAndBuild(lease.connection, definition, builder)
  } finally {
    await unlock(lease.connection, lock)
  }
}

async function announceAndBuild(
  connection: Connection,
  definition: CollectionDefinition,
  builder: Builder,
): Promise<readonly IndexRecord[]> {
  const start = await inTransaction(builder.connections, async (transaction) => {
    await lockMetadata(transaction, builder.schema)
    const missing = await missingIn(transaction, definition)
    return missing && (await announce(transaction, missing.record, missing.added))
  })
  if (!start) return []
  await builder.reload()
  try {
    await build(connection, start, builder)
    return start.records
  } catch (error) {
    await discardAfterFailure(start.records, builder)
    throw error
  }
}

/**
 * Never fails, so that it does not hide why the indexes are not wanted any more. What cannot be dropped now, the next change
 * of indexes or the next start drops.
 */
export async function discardAfterFailure(records: readonly IndexRecord[], builder: Builder): Promise<void> {
  await discard(records, builder).catch(() => undefined)
}

/** The indexes that a collection lacks; undefined if there are none, or no documents to build them from. */
async function missingIn(session: SqlSession, { collection, indexes }: CollectionDefinition) {
  const record = await findCollection(session, collection)
  if (!record || (await isEmpty(session, record))) return undefined
  const { added } = await indexChanges(session, record, indexes)
  return added.length === 0 ? undefined : { record, added }
}

function builtByOthers({ collection }: CollectionDefinition): ServiceError {
  const message = `indexes of ${collection.entity} are being built already; try again when they are done`
  return new ServiceError('metadata:UpdateInvalidatesMetadata', message)
}

interface Start {
  readonly record: CollectionRecord
  readonly records: readonly IndexRecord[]
}

async function announce(
  transaction: Transaction,
  found: CollectionRecord,
  added: readonly IndexDefinition[],
): Promise<Start> {
  const grown = await addColumns(transaction, found, { paths: [], indexes: added })
  const isUnique = added.some(({ unique }) => unique)
  const record = isUnique ? await renameTable(transaction, grown) : grown
  const records: IndexRecord[] = []
  for (const definition of added) {
    records.push(await addIndexRecord(transaction, record, { definition, state: 'building' }))
  }
  return { record, records }
}

async function build(connection: Connection, start: Start, builder: Builder): Promise<void> {
  const { records } = start
  const record = await withFilledColumns(start.record, builder)
  const alone = (work: () => Promise<void>): Promise<boolean> =>
    asOnlyBuild(connection, { record, schema: builder.schema }, work)
  for (const index of records) {
    await alone(() => buildIndex(connection, index, { record, concurrently: true }))
    if (index.definition.unique) await enterClaims(index, record, builder)
  }
  // Without statistics of its own the planner does not choose an index on an expression.
  await alone(() => analyze(connection, record))
}

/** An index on columns needs the values of all documents; one in a table of an earlier release is built on that. */
async function withFilledColumns(record: CollectionRecord, builder: Builder): Promise<CollectionRecord> {
  if (record.layout.hasBody || isComplete(record.layout)) return record
  await fillColumns(record.no, builder)
  const filled = (await readCollections(builder.connections)).find(({ no }) => no === record.no)
  return filled ?? record
}

/** Drops only indexes that are not ready: if the connection was lost during the commit, they may have become ready. */
async function discard(
  records: readonly IndexRecord[],
  builder: Builder,
  { mayRepeat = true } = {},
): Promise<void> {
  if (records.length === 0) return
  const numbers = new Set(records.map(({ no }) => no))
  const work = async (transaction: Transaction): Promise<void> => {
    await lockMetadata(transaction, builder.schema)
    const left = (await readIndexes(transaction)).filter(({ no, isReady }) => !isReady && numbers.has(no))
    for (const record of await readCollections(transaction)) {
      const own = left.filter(({ collection }) => collection === record.no)
      for (const index of own) await dropIndex(transaction, index, record)
      // No change of metadata notifies the other processes, which go on writing claims for the index. The new
      // name makes them read the catalogue again.
      if (own.some(({ definition }) => definition.unique)) await renameTable(transaction, record)
    }
  }
  await inTransaction(builder.connections, work, { mayRepeat })
  await builder.reload()
}

/**
 * Drops what processes that died left half built. False if an index is left because its table is in use, as during a
 * dump of the database: each table is tried once only, because all others wait behind the attempt to lock it.
 */
export async function tryToTidyUp(builder: Builder): Promise<boolean> {
  let isDone = true
  await forEachLeftover(builder, async (index) => {
    try {
      await discard([index], builder, { mayRepeat: false })
    } catch (error) {
      if (!isCollision(error)) throw error
      isDone = false
    }
  })
  return isDone
}

/** Indexes that processes left half built when they died. */
async function forEachLeftover(builder: Builder, drop: (index: IndexRecord) => Promise<void>): Promise<void> {
  const left = (await readIndexes(builder.connections)).filter(({ isReady }) => !isReady)
  for (const index of left) {
    using lease = await builder.connections.lease()
    const lock = lockOf({ no: index.collection }, builder)
    if (!(await tryLock(lease.connection, lock))) continue
    try {
      await drop(index)
    } finally {
      await unlock(lease.connection, lock)
    }
  }
}

function lockOf({ no }: { readonly no: number }, { schema }: Builder): string {
  return `building of ${schema}/${no}`
}
