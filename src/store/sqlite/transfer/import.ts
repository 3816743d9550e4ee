/** Fills an empty file with what another store held. */
import type { DatabaseSync } from 'node:sqlite'
import { type JsonObject, isNumber, parseTrusted } from '../../../base/json/json.ts'
import type { Collection } from '../../../schema/schema.ts'
import { bind } from '../../sql/sqlite-dialect.ts'
import {
  type ArchivedDocument,
  type ArchivedHistory,
  type ArchivedRecords,
  type ArchivedSequence,
  type Obstacle,
  type ReceivedCollection,
  type Receiving,
  UnfitError,
} from '../../transfer.ts'
import { addEvents, addSinks, clearEvents, putLastEvent } from './export-events.ts'
import { addDocumentHistory } from './export-history.ts'
import type { Catalogue } from '../catalogue.ts'
import { isConstraintError } from '../file/failures.ts'
import { MARK, UNMARK, isUnfinished } from './import-marker.ts'
import type { Writer } from '../write/writer.ts'

interface Parts {
  readonly database: DatabaseSync
  readonly catalogue: Catalogue
  readonly writer: Writer
}

/** One process at a time has the file, so nobody can be busy with it. */
export function obstacleIn(database: DatabaseSync): Obstacle | undefined {
  if (isUnfinished(database)) return 'unfinished'
  const isFilled = TABLES.some((table) => database.prepare(`select 1 from ${table} limit 1`).get())
  return isFilled ? 'filled' : undefined
}

const TABLES = ['smalt_collection', 'smalt_entity', 'smalt_schema', 'smalt_history', 'smalt_sequence']

export async function receive(
  { database, catalogue, writer }: Parts,
  hasRemains: boolean,
): Promise<Receiving> {
  const received = new Map<string, ReceivedCollection>()
  const definitionOf = ({ name, entity }: Collection) => received.get(`${name}/${entity}`)!

  /** The tables may be others afterwards. */
  async function change(work: () => void): Promise<void> {
    try {
      await writer.transact(async () => work())
    } finally {
      catalogue.reload()
    }
  }

  await change(() => {
    if (hasRemains) clear(database)
    database.exec(MARK)
  })
  return {
    async createCollection(definition) {
      const { collection, paths, historySince } = definition
      received.set(`${collection.name}/${collection.entity}`, definition)
      await change(() => {
        catalogue.prepare({ collection, paths, indexes: [] })
        if (historySince !== undefined) catalogue.putHistory(collection, historySince)
      })
    },
    addDocuments: (collection, documents) =>
      writer.run(() => {
        const insert = database.prepare(
          `insert into ${catalogue.tableOf(collection)!.name}(id, version, doc) values (?, ?, ?)`,
        )
        const idOf = idReader(definitionOf(collection))
        try {
          for (const each of documents) insert.run(idOf(each), each.version, each.text)
        } catch (error) {
          if (!isConstraintError(error)) throw error
          throw new UnfitError(collection, 'two documents would have the same _id', error)
        }
      }),
    addDocumentHistory: (collection, changes) =>
      writer.run(() => {
        const { past } = catalogue.tableOf(collection)!
        addDocumentHistory(database, past!.name, { changes, idOf: idReader(definitionOf(collection)) })
      }),
    buildIndexes: (collection) => change(() => catalogue.prepare(definitionOf(collection))),
    addSequences: (sequences) => writer.run(() => addSequences(database, sequences)),
    addHistory: (history) => writer.run(() => addHistory(database, history)),
    addEvents: (events) => writer.run(() => addEvents(database, events)),
    putLastEvent: (last) => writer.run(() => putLastEvent(database, last)),
    addSinks: (sinks) => writer.run(() => addSinks(database, sinks)),
    putRecords: (records) => writer.run(() => putRecords(database, records)),
    finish: () => writer.run(() => database.exec(UNMARK)),
    clear: () => change(() => clear(database)),
    async [Symbol.asyncDispose]() {},
  }
}

/** The column of `_id` holds numbers as the type of the field says. */
function idReader({ collection, numericIdType }: ReceivedCollection) {
  return ({ key, text }: Pick<ArchivedDocument, 'key' | 'text'>) => {
    const id = (parseTrusted(text) as JsonObject)['_id']!
    if (!isNumber(id)) return key
    if (numericIdType === undefined) {
      throw new UnfitError(collection, 'nothing tells of which type its _id is, and it is a number')
    }
    return bind(id, numericIdType)
  }
}

function addSequences(database: DatabaseSync, sequences: readonly ArchivedSequence[]): void {
  const insert = database.prepare('insert into smalt_sequence(name, next, increment) values (?, ?, ?)')
  for (const { name, next, increment } of sequences) insert.run(name, next, increment)
}

function addHistory(database: DatabaseSync, history: readonly ArchivedHistory[]): void {
  const insert = database.prepare(
    `insert into smalt_history(entity, at, principal, action, version, before, after) values (?, ?, ?, ?, ?, ?, ?)`,
  )
  for (const { entity, at, principal, action, version, before, after } of history) {
    insert.run(entity, at, principal, action, version ?? null, before, after)
  }
}

function putRecords(database: DatabaseSync, { epoch, secret, entities, schemas }: ArchivedRecords): void {
  database.prepare('update smalt_epoch set epoch = max(epoch + 1, ?)').run(epoch)
  database.prepare('update smalt_secret set secret = ?').run(secret)
  const putEntity = database.prepare('insert into smalt_entity(entity, info) values (?, ?)')
  for (const { entity, info } of entities) putEntity.run(entity, info)
  const putSchema = database.prepare('insert into smalt_schema(entity, version, schema) values (?, ?, ?)')
  for (const { entity, version, schema } of schemas) putSchema.run(entity, version, schema)
}

/** Fails when there is no mark: what has been finished is never taken away. */
function clear(database: DatabaseSync): void {
  database.exec(UNMARK)
  const made = database.prepare(`select name from sqlite_master where type = 'table' and name glob ?`)
  const tables = ['doc_[0-9]*', 'arr_[0-9]*', 'past_[0-9]*'].flatMap((names) => made.all(names))
  for (const { name } of tables) database.exec(`drop table ${String(name)}`)
  for (const table of [...TABLES, 'smalt_index']) database.exec(`delete from ${table}`)
  clearEvents(database)
  database.exec(`update smalt_secret set secret = lower(hex(randomblob(32)))`)
}
