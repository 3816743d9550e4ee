/** Fills an empty store with the exported data of another one. */
import { randomBytes } from 'node:crypto'
import type { Engine, EngineSession } from '../engine.ts'
import type { ExportedEvent } from '../events.ts'
import { type Fragment, join, param, raw, sql } from '../sql/fragment.ts'
import { type Transfer, type ExportedRecords, ObstacleError, type StoreImport } from '../transfer.ts'
import { type ExportedSinkRow, SINK_DEFAULTS, SINK_TABLES, type SinkTable } from '../transfer-sinks.ts'
import { MARK, UNMARK } from './import-marker.ts'
import { type Collections, insertHistory, putEntity, putSchema } from './metadata.ts'
import { FILLED, obstacleIn } from './obstacle.ts'
import type { OutboxTable } from './outbox-heads.ts'

/** The part of an import that each engine implements itself. */
export interface CollectionImport extends Pick<
  StoreImport,
  'createCollection' | 'addDocuments' | 'addDocumentHistory' | 'buildIndexes'
> {
  /** Drops the tables of all collections; called while the catalogue still lists them. */
  readonly dropCollections: (session: EngineSession) => Promise<void>
}

export interface ImportParts {
  readonly engine: Engine
  readonly collections: Collections
  readonly outbox: OutboxTable
  /** Excludes concurrent moves until it is disposed; throws an ObstacleError when one is running. */
  readonly claim: () => Promise<AsyncDisposable>
  readonly openImport: () => CollectionImport
}

export async function beginImport(
  parts: ImportParts,
  { discardsIncomplete }: Parameters<Transfer['beginImport']>[0],
): Promise<StoreImport> {
  const { engine, collections, claim, openImport } = parts
  const into = openImport()
  const claimed = await claim()
  try {
    await collections.change([], async (session) => {
      const obstacle = await obstacleIn(engine, session)
      if (obstacle === 'unfinished' && discardsIncomplete) await clear(parts, session, into)
      else if (obstacle) throw new ObstacleError(obstacle)
      await session.query(MARK)
      // The new epoch makes metadata changes fail in processes that have read the store as empty.
      await session.query(sql`update smalt_epoch set epoch = epoch + 1`)
    })
  } catch (error) {
    await claimed[Symbol.asyncDispose]()
    throw error
  }
  return importing(parts, into, claimed)
}

function importing(parts: ImportParts, into: CollectionImport, claimed: AsyncDisposable): StoreImport {
  const { engine, collections, outbox } = parts
  const write = (statements: readonly Fragment[]): Promise<void> =>
    engine.run('move', async () => {
      if (statements.length > 0) await engine.batch(statements)
    })
  return {
    createCollection: (definition) => into.createCollection(definition),
    addDocuments: (collection, documents) => into.addDocuments(collection, documents),
    addDocumentHistory: (collection, changes) => into.addDocumentHistory(collection, changes),
    buildIndexes: (collection) => into.buildIndexes(collection),
    addSequences: (sequences) =>
      write(
        sequences.map(
          ({ name, next, increment }) =>
            sql`insert into smalt_sequence(name, next, increment)
              values (${param(name)}, ${param(next)}, ${param(increment)})`,
        ),
      ),
    addHistory: (history) => write(history.map(insertHistory)),
    addEvents: (events) => write(events.map((event) => insertEvent(outbox, event))),
    putLastEvent: (last) =>
      engine.run('move', async () => {
        const [row] = await engine.query(sql`select min(seq) from ${outbox.name}`)
        await engine.batch(outbox.setBounds({ first: Number(row![0] ?? last + 1), last }))
      }),
    addSinks: (sinks) => write(sinks.map((row) => insertSinkRow('smalt_sink', row))),
    addSinkItems: (items) => write(items.map((row) => insertSinkRow('smalt_sink_item', row))),
    addAnswers: (answers) =>
      write(
        answers.map(
          (row) =>
            sql`insert into smalt_answer(${raw(ANSWER_COLUMNS.join(', '))}) values (${join(row.map(param), ', ')})`,
        ),
      ),
    putRecords: (records) => write(putRecords(engine, records)),
    finish: () => write([UNMARK]),
    clear: () => engine.run('move', () => collections.change([], (session) => clear(parts, session, into))),
    async [Symbol.asyncDispose]() {
      await claimed[Symbol.asyncDispose]()
      await engine.run('move', collections.reload).catch(() => undefined)
    },
  }
}

export const ANSWER_COLUMNS = [
  'caller',
  'key',
  'fingerprint',
  'status',
  'answer',
  'size',
  'expires',
  'leased_until',
] as const

/** One row per statement: several rows would need casts, which single inserts do not. */
function insertEvent({ name, holderKey, documentColumns }: OutboxTable, event: ExportedEvent): Fragment {
  const { seq, id, entity, hook, operation, document, at, details, before, after, holder } = event
  const columns = raw('seq, id, entity, hook, operation, at, details, before, after, holder')
  const values = [seq, id, entity, hook, operation, at, details, before, after, holder?.[holderKey] ?? null]
  const places = [...values, ...documentColumns.map(() => document)].map(param)
  return sql`insert into ${name}(${columns}, ${raw(documentColumns.join(', '))}) values (${join(places, ', ')})`
}

function insertSinkRow(table: SinkTable, row: ExportedSinkRow): Fragment {
  const others = SINK_DEFAULTS[table]
  const columns = raw([...SINK_TABLES[table], ...Object.keys(others)].join(', '))
  const places = [...row, ...Object.values(others)].map(param)
  return sql`insert into ${raw(table)}(${columns}) values (${join(places, ', ')})`
}

function putRecords(
  { secretTable }: Engine,
  { epoch, secret, entities, schemas }: ExportedRecords,
): readonly Fragment[] {
  return [
    sql`update smalt_epoch set epoch = case when epoch + 1 > ${param(epoch)} then epoch + 1 else ${param(epoch)} end`,
    sql`update ${secretTable} set secret = ${param(secret)}`,
    ...entities.map(({ entity, info }) => putEntity(entity, info)),
    ...schemas.map(putSchema),
  ]
}

/** Fails without the marker, so that a completed store is never emptied. */
async function clear(
  { engine, outbox }: ImportParts,
  { query }: EngineSession,
  { dropCollections }: CollectionImport,
): Promise<void> {
  await query(UNMARK)
  await dropCollections({ query })
  const tables = [...FILLED, 'smalt_index', 'smalt_answer', ...Object.keys(SINK_TABLES)].map((table) =>
    raw(table),
  )
  for (const table of [...tables, outbox.name]) await query(sql`delete from ${table}`)
  for (const statement of outbox.setBounds({ first: 1, last: 0 })) await query(statement)
  await query(sql`update ${engine.secretTable} set secret = ${param(randomBytes(32).toString('hex'))}`)
}
