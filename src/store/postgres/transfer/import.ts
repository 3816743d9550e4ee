/** Creates collections in an empty database and fills them with the documents of another store. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Collection } from '../../../schema/schema.ts'
import type { CollectionImport } from '../../tables/import.ts'
import { ObstacleError } from '../../transfer.ts'
import { tryLock, unlock } from '../connection/advisory-locks.ts'
import type { Run } from './export.ts'
import { historyRowsStatement, historyRowsValues } from './export-history.ts'
import type { Builder } from '../schema/builder.ts'
import {
  type Table,
  type Tables,
  claimsName,
  keyOf,
  historyTableName,
  readIndexes,
  readTables,
  tableName,
} from '../schema/catalogue.ts'
import { parseLayout } from '../schema/columns.ts'
import {
  addIndexRecord,
  buildIndex,
  createCollection,
  createHistory,
  findCollection,
  putHistorySince,
} from '../schema/collections.ts'
import { raw, sql } from '../../sql/fragment.ts'
import type { SqlSession } from '../connection/connection.ts'
import { lockMetadata } from '../schema/metadata-lock.ts'
import { insertDocuments, insertTogether } from './import-rows.ts'
import { inTransaction } from '../connection/transaction.ts'

/** One connection holds a lock until the end: an import marker without the lock was left by a process that died. */
export async function claimImport({ connections, schema }: Builder): Promise<AsyncDisposable> {
  const lease = await connections.lease()
  const lock = `move into ${schema}`
  try {
    if (!(await lockSoon(lease.connection, lock))) throw new ObstacleError('busy')
  } catch (error) {
    lease[Symbol.dispose]()
    throw error
  }
  return {
    async [Symbol.asyncDispose]() {
      // The server has released the lock of a lost connection.
      await unlock(lease.connection, lock).catch(() => undefined)
      lease[Symbol.dispose]()
    },
  }
}

/** The server releases the lock of a killed process only after a short time. */
async function lockSoon(session: SqlSession, lock: string): Promise<boolean> {
  for (let attempt = 1; attempt < 20; attempt++) {
    if (await tryLock(session, lock)) return true
    await pause(100)
  }
  return await tryLock(session, lock)
}

export function collectionImport({ connections, schema, isCluster }: Builder, run: Run): CollectionImport {
  let tables: Tables = new Map()
  const paths = new Map<string, number>()
  const tableOf = (collection: Collection): Table => tables.get(keyOf(collection))!
  return {
    createCollection: (definition) =>
      run(async () => {
        await inTransaction(connections, async (transaction) => {
          await lockMetadata(transaction, schema)
          const record = await createCollection(transaction, definition)
          const { historySince } = definition
          if (historySince !== undefined) {
            await createHistory(transaction, record)
            await putHistorySince(transaction, record, historySince ?? undefined)
          }
          // Recorded before they are built, so that documents get their claims; nobody reads yet.
          for (const index of definition.indexes) {
            await addIndexRecord(transaction, record, { definition: index, state: 'ready' })
          }
        })
        tables = await readTables(connections, isCluster())
        paths.set(keyOf(definition.collection), new Set(definition.paths).size)
      }),
    addDocuments: (collection, documents) =>
      run(() => {
        const into = { collection, paths: paths.get(keyOf(collection))!, table: tableOf(collection) }
        return insertDocuments(documents, { ...into, connections })
      }),
    addDocumentHistory: (collection, changes) =>
      run(async () => {
        const { past, isDistributed } = tableOf(collection)
        const known = paths.get(keyOf(collection))!
        if (isDistributed) await insertTogether(historyRowsValues(changes, known, past!.name), connections)
        else await connections.query(historyRowsStatement(changes, known, past!.name))
      }),
    buildIndexes: (collection) => run(() => buildIndexes(collection, connections)),
    async dropCollections({ query }) {
      for (const row of await query(sql`select no, generation, layout from smalt_collection order by no`)) {
        const layout = parseLayout(row[2] === null ? null : String(row[2]))
        const record = { no: Number(row[0]), generation: Number(row[1]), layout }
        const names = [tableName(record), claimsName(record), historyTableName(record)]
        for (const name of names) await query(sql`drop table if exists ${raw(name)}`)
      }
    },
  }
}

async function buildIndexes(collection: Collection, session: SqlSession): Promise<void> {
  const record = (await findCollection(session, collection))!
  const indexes = (await readIndexes(session)).filter(({ collection: no }) => no === record.no)
  for (const index of indexes) await buildIndex(session, index, { record, concurrently: false })
  await plain(session, `analyze ${tableName(record)}`)
}

async function plain(session: SqlSession, text: string): Promise<void> {
  await session.query({ text, values: [] })
}
