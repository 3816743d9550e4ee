/** Fills an empty database with what another store held. */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Collection } from '../../../schema/schema.ts'
import { type ArchivedRecords, type Obstacle, ObstacleError, type Receiving } from '../../transfer.ts'
import { tryLock, unlock } from '../connection/advisory-locks.ts'
import { historyRowsStatement } from './export-history.ts'
import { addSinks, clearEvents, eventsStatement, putLastEvent } from './export-events.ts'
import type { Builder } from '../schema/index-builds.ts'
import {
  type Table,
  type Tables,
  claimsName,
  keyOf,
  historyTableName,
  readCollections,
  readIndexes,
  readTables,
  tableName,
} from '../schema/catalogue.ts'
import {
  addIndexRecord,
  addPaths,
  buildIndex,
  createCollection,
  createHistory,
  findCollection,
  putHistorySince,
} from '../schema/collections.ts'
import type { Lease, Session } from '../connection/connections.ts'
import { lockMetadata } from '../schema/metadata-lock.ts'
import { historyStatement, insertDocuments, sequencesStatement } from './import-rows.ts'
import { inTransaction } from '../connection/transaction.ts'
import { MARK, UNMARK, isUnfinished } from './import-marker.ts'

export type Run = <T>(work: () => Promise<T>) => Promise<T>

export async function obstacleIn(session: Session): Promise<Obstacle | undefined> {
  if (await isUnfinished(session)) return 'unfinished'
  const checks = TABLES.map((table) => `exists (select 1 from ${table})`).join(' or ')
  const [row] = await session.query({ text: `select ${checks}`, values: [] })
  return row![0] === 't' ? 'filled' : undefined
}

const TABLES = ['smalt_collection', 'smalt_entity', 'smalt_schema', 'smalt_history', 'smalt_sequence']

/** One connection holds a lock until the end: a mark without it is one of a process that is no more. */
export async function receive(builder: Builder, run: Run, discardsUnfinished: boolean): Promise<Receiving> {
  const lease = await builder.connections.lease()
  const lock = `move into ${builder.schema}`
  try {
    if (!(await lockSoon(lease.connection, lock))) throw new ObstacleError('busy')
    try {
      await begin(builder, discardsUnfinished)
    } catch (error) {
      await unlock(lease.connection, lock)
      throw error
    }
  } catch (error) {
    lease[Symbol.dispose]()
    throw error
  }
  return receivingBy(builder, run, { lease, lock })
}

/** The server lets go of a process that was killed only after a moment. */
async function lockSoon(session: Session, lock: string): Promise<boolean> {
  for (let attempt = 1; attempt < 20; attempt++) {
    if (await tryLock(session, lock)) return true
    await pause(100)
  }
  return await tryLock(session, lock)
}

async function begin(builder: Builder, discardsUnfinished: boolean): Promise<void> {
  await inTransaction(builder.connections, async (transaction) => {
    await lockMetadata(transaction, builder.schema)
    const obstacle = await obstacleIn(transaction)
    if (obstacle === 'unfinished' && discardsUnfinished) await clear(transaction)
    else if (obstacle) throw new ObstacleError(obstacle)
    await plain(transaction, MARK)
    // Whoever read that the store is empty cannot change its metadata any more.
    await plain(transaction, 'update smalt_epoch set epoch = epoch + 1 where one = 1')
  })
}

interface Held {
  readonly lease: Lease
  readonly lock: string
}

function receivingBy(builder: Builder, run: Run, { lease, lock }: Held): Receiving {
  const { connections, schema } = builder
  let tables: Tables = new Map()
  const paths = new Map<string, number>()
  let historyNo = 0
  const tableOf = (collection: Collection): Table => tables.get(keyOf(collection))!
  return {
    createCollection: (definition) =>
      run(async () => {
        await inTransaction(connections, async (transaction) => {
          await lockMetadata(transaction, schema)
          const record = await createCollection(transaction, definition.collection)
          await addPaths(transaction, record, definition)
          const { historySince } = definition
          if (historySince !== undefined) {
            await createHistory(transaction, record)
            await putHistorySince(transaction, record, historySince ?? undefined)
          }
          // Recorded before they are there, so that the documents come with their claims; nobody reads yet.
          for (const index of definition.indexes) {
            await addIndexRecord(transaction, record, { definition: index, state: 'ready' })
          }
        })
        tables = await readTables(connections)
        paths.set(keyOf(definition.collection), new Set(definition.paths).size)
      }),
    addDocuments: (collection, documents) =>
      run(() => {
        const into = { collection, paths: paths.get(keyOf(collection))!, table: tableOf(collection) }
        return insertDocuments(documents, { ...into, session: connections })
      }),
    addDocumentHistory: (collection, changes) =>
      run(async () => {
        const { past } = tableOf(collection)
        const known = paths.get(keyOf(collection))!
        await connections.query(historyRowsStatement(changes, known, past!.name))
      }),
    buildIndexes: (collection) => run(() => buildIndexes(collection, connections)),
    addSequences: (sequences) =>
      run(async () => {
        if (sequences.length > 0) await connections.query(sequencesStatement(sequences))
      }),
    addHistory: (history) =>
      run(async () => {
        await connections.query(historyStatement(history, historyNo))
        historyNo += history.length
      }),
    addEvents: (events) => run(async () => void (await connections.query(eventsStatement(events)))),
    putLastEvent: (last) => run(() => putLastEvent(connections, last)),
    addSinks: (sinks) => run(() => inTransaction(connections, (transaction) => addSinks(transaction, sinks))),
    putRecords: (records) =>
      run(() => inTransaction(connections, (transaction) => putRecords(transaction, records))),
    finish: () => run(() => plain(connections, UNMARK)),
    clear: () =>
      run(() =>
        inTransaction(connections, async (transaction) => {
          await lockMetadata(transaction, schema)
          await clear(transaction)
        }),
      ),
    async [Symbol.asyncDispose]() {
      // The lock of a connection that is gone is gone too.
      await unlock(lease.connection, lock).catch(() => undefined)
      lease[Symbol.dispose]()
      await run(builder.reload).catch(() => undefined)
    },
  }
}

async function buildIndexes(collection: Collection, session: Session): Promise<void> {
  const record = (await findCollection(session, collection))!
  const indexes = (await readIndexes(session)).filter(({ collection: no }) => no === record.no)
  for (const index of indexes) await buildIndex(session, index, { record, concurrently: false })
  await plain(session, `analyze ${tableName(record)}`)
}

async function putRecords(
  session: Session,
  { epoch, secret, entities, schemas }: ArchivedRecords,
): Promise<void> {
  const text = 'update smalt_epoch set epoch = greatest(epoch + 1, $1::bigint), secret = $2 where one = 1'
  await session.query({ text, values: [epoch, secret] })
  for (const { entity, info } of entities) {
    const put = 'insert into smalt_entity(entity, info) values ($1, $2)'
    await session.query({ text: put, values: [entity, info] })
  }
  for (const [i, { entity, version, schema }] of schemas.entries()) {
    const put = 'insert into smalt_schema(entity, version, no, schema) values ($1, $2, $3, $4)'
    await session.query({ text: put, values: [entity, version, i + 1, schema] })
  }
}

/** Fails when there is no mark: what has been finished is never taken away. */
async function clear(session: Session): Promise<void> {
  await plain(session, UNMARK)
  for (const record of await readCollections(session)) {
    await plain(session, `drop table if exists ${tableName(record)}`)
    await plain(session, `drop table if exists ${claimsName(record)}`)
    if (record.hasHistory) await plain(session, `drop table if exists ${historyTableName(record)}`)
  }
  for (const table of [...TABLES, 'smalt_index']) await plain(session, `delete from ${table}`)
  await clearEvents(session)
  const secret = randomBytes(32).toString('hex')
  await session.query({ text: 'update smalt_epoch set secret = $1 where one = 1', values: [secret] })
}

async function plain(session: Session, text: string): Promise<void> {
  await session.query({ text, values: [] })
}
