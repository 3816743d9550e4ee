/**
 * Indexes on collections that hold documents, built while others go on writing. The record of such an index says that
 * it is being built: writers keep it from then on, nobody relies on it yet. Only when it is complete the metadata that
 * wants it is changed. What a process that died left half built is taken away by the next one that comes by.
 */
import { ServiceError } from '../../../base/errors.ts'
import type { IndexDefinition } from '../../../schema/schema.ts'
import type { CollectionDefinition } from '../../metadata-records.ts'
import { tryLock, unlock } from '../connection/advisory-locks.ts'
import {
  type CollectionRecord,
  type IndexRecord,
  readCollections,
  readIndexes,
  tableName,
} from './catalogue.ts'
import {
  addIndexRecord,
  addPaths,
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
import type { Connection, Connections, Session } from '../connection/connections.ts'
import { enterClaims } from './backfill-claims.ts'
import { lockMetadata } from './metadata-lock.ts'
import { type Transaction, inTransaction } from '../connection/transaction.ts'

export interface Builder {
  readonly connections: Connections
  /** The PostgreSQL schema, which names the locks. */
  readonly schema: string
  /** Makes this process know what is in the catalogue now. */
  readonly reload: () => Promise<void>
  /** Microseconds since 1970, as versions are made of. */
  readonly now: () => number
}

/** Inside the transaction that changes metadata: all that can be done at once, because nobody has to wait for it. */
export async function prepare(
  transaction: Transaction,
  definition: CollectionDefinition,
  { built, now }: { readonly built: readonly IndexRecord[] } & Pick<Builder, 'now'>,
): Promise<void> {
  const { collection, indexes, history = false } = definition
  const found = await findCollection(transaction, collection)
  let record = found ?? (await createCollection(transaction, collection))
  await addPaths(transaction, record, definition)
  for (const { no } of built) {
    await transaction.query({ text: `update smalt_index set state = 'ready' where no = $1`, values: [no] })
  }
  const { added, removed } = await indexChanges(transaction, record, indexes)
  // What is not ready belongs to another process, which takes it away itself.
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

/** What is kept stays; after a time in which nothing was kept, only what comes is known for sure. */
async function changeHistory(
  transaction: Transaction,
  record: CollectionRecord,
  now: number | undefined,
): Promise<void> {
  if (!record.hasHistory) await createHistory(transaction, record)
  const since = now === undefined ? undefined : await beginningOf(transaction, record, now)
  await putHistorySince(transaction, record, since)
}

/** The table was empty a moment ago, so that building at once was right, and is not any more. */
export class FilledMeanwhile extends Error {}

/** Before the transaction: builds what has to be built beside the writers, and gives the records of it. */
export async function buildAhead(
  definition: CollectionDefinition,
  builder: Builder,
): Promise<readonly IndexRecord[]> {
  await tidyUp(builder)
  const missing = await inTransaction(builder.connections, (transaction) =>
    missingIn(transaction, definition),
  )
  if (!missing) return []
  using lease = await builder.connections.lease()
  const lock = lockOf(missing.record, builder)
  // Taken before anything is announced: what is being built without it was left behind.
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
    await discard(start.records, builder)
    throw error
  }
}

/** What a collection lacks; undefined where nothing, and where there are no documents to build it from. */
async function missingIn(session: Session, { collection, indexes }: CollectionDefinition) {
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
  const record = added.some(({ unique }) => unique) ? await renameTable(transaction, found) : found
  const records: IndexRecord[] = []
  for (const definition of added) {
    records.push(await addIndexRecord(transaction, record, { definition, state: 'building' }))
  }
  return { record, records }
}

async function build(connection: Connection, { record, records }: Start, builder: Builder): Promise<void> {
  for (const index of records) {
    await buildIndex(connection, index, { record, concurrently: true })
    if (index.definition.unique) await enterClaims(index, record, builder.connections)
  }
  // Indexes of expressions have statistics of their own, without which they are not chosen.
  await connection.query({ text: `analyze ${tableName(record)}`, values: [] })
}

/** Only what is not ready: whoever was cut off while committing may have made it so. */
export async function discard(records: readonly IndexRecord[], builder: Builder): Promise<void> {
  if (records.length === 0) return
  const numbers = new Set(records.map(({ no }) => no))
  await inTransaction(builder.connections, async (transaction) => {
    await lockMetadata(transaction, builder.schema)
    const left = (await readIndexes(transaction)).filter(({ no, isReady }) => !isReady && numbers.has(no))
    for (const record of await readCollections(transaction)) {
      const own = left.filter(({ collection }) => collection === record.no)
      for (const index of own) await dropIndex(transaction, index, record)
      // No change of metadata tells the other processes, which go on claiming values for it.
      if (own.some(({ definition }) => definition.unique)) await renameTable(transaction, record)
    }
  })
  await builder.reload()
}

/** Takes away what was half built by processes that are no more. */
export async function tidyUp(builder: Builder): Promise<void> {
  const left = (await readIndexes(builder.connections)).filter(({ isReady }) => !isReady)
  for (const index of left) {
    using lease = await builder.connections.lease()
    const lock = lockOf({ no: index.collection }, builder)
    if (!(await tryLock(lease.connection, lock))) continue
    try {
      await discard([index], builder)
    } finally {
      await unlock(lease.connection, lock)
    }
  }
}

function lockOf({ no }: { readonly no: number }, { schema }: Builder): string {
  return `building of ${schema}/${no}`
}
