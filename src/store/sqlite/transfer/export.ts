/** All that the file holds, for a move to another store; `receiving.ts` is the other direction. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { orderKey } from '../../../base/decimal.ts'
import {
  type Archive,
  type ArchivedCollection,
  type ArchivedDocument,
  type ArchivedHistory,
  type ArchivedSequence,
  ObstacleError,
  PAGE,
} from '../../transfer.ts'
import { archivedEvents, archivedSinks } from './export-events.ts'
import type { OutboxReading } from '../../tables/outbox-heads.ts'
import { exportedHistory } from './export-history.ts'
import type { Catalogue, Table } from '../catalogue.ts'
import { readMetadata } from '../metadata.ts'
import { lastNumber } from '../write/outbox.ts'
import type { Statements } from '../read/reads.ts'
import { obstacleIn, receive } from './import.ts'
import type { Writer } from '../write/writer.ts'

/** Whether there is a store in the directory; opening it would make one. */
export function isStoreIn(directory: string): boolean {
  return existsSync(join(directory, 'smalt.db'))
}

interface Parts {
  readonly database: DatabaseSync
  readonly catalogue: Catalogue
  readonly statements: Statements
  readonly outbox: OutboxReading
  readonly writer: Writer
}

export function archiveOf({ database, catalogue, statements, outbox, writer }: Parts): Archive {
  return {
    collections: async () => readCollections(database, catalogue),
    async *documents(collection) {
      const table = catalogue.tableOf(collection)
      if (!table) return
      for (let last = 0n; ;) {
        const page = readDocuments(database, table.name, last)
        if (page.documents.length === 0) return
        last = page.last
        yield page.documents
      }
    },
    past: (collection) => exportedHistory(database, catalogue.tableOf(collection)?.past?.name),
    sequences: async () => readSequences(database),
    async *history() {
      for (let last = 0; ;) {
        const page = readMetadataHistory(database, last)
        if (page.length === 0) return
        last = page.at(-1)!.no
        yield page.map(({ record }) => record)
      }
    },
    events: () => archivedEvents(outbox),
    lastEvent: async () => lastNumber(statements),
    sinks: async () => archivedSinks(database),
    async records() {
      const { collections: _, ...records } = readMetadata(database, catalogue)
      return records
    },
    obstacle: async () => obstacleIn(database),
    async receive({ discardsUnfinished }) {
      const obstacle = obstacleIn(database)
      const isInTheWay = obstacle === 'unfinished' ? !discardsUnfinished : obstacle !== undefined
      if (isInTheWay) throw new ObstacleError(obstacle!)
      return await receive({ database, catalogue, writer }, obstacle === 'unfinished')
    },
  }
}

function readCollections(database: DatabaseSync, catalogue: Catalogue): readonly ArchivedCollection[] {
  return catalogue.paths().map(({ name, entity, paths }) => {
    const collection = { datasource: '', name, entity }
    const table = catalogue.tableOf(collection)!
    const { count } = database.prepare(`select count(*) count from ${table.name}`).get() as { count: number }
    return { collection, paths, indexes: [...table.indexes.values()], count, ...historyIn(table) }
  })
}

function historyIn({ past }: Table): Pick<ArchivedCollection, 'history' | 'historySince'> {
  return past ? { history: past.since !== undefined, historySince: past.since ?? null } : {}
}

function readDocuments(database: DatabaseSync, table: string, last: bigint) {
  const statement = database.prepare(
    `select no, id, version, doc from ${table} where no > ? order by no limit ?`,
  )
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  const documents: ArchivedDocument[] = []
  let characters = 0
  let reached = last
  const rows = statement.iterate(last, PAGE.documents) as unknown as Iterable<DocumentRow>
  for (const [no, id, version, text] of rows) {
    // A number that another type holds as text has this form already.
    const key = typeof id === 'string' ? id : orderKey(String(id))!
    documents.push({ key, version: Number(version), text })
    reached = no
    characters += text.length
    if (characters > PAGE.characters) break
  }
  return { documents, last: reached }
}

type DocumentRow = readonly [no: bigint, id: string | number | bigint, version: bigint, text: string]

function readSequences(database: DatabaseSync): readonly ArchivedSequence[] {
  const statement = database.prepare('select name, next, increment from smalt_sequence order by name')
  statement.setReadBigInts(true)
  return statement.all() as unknown as ArchivedSequence[]
}

function readMetadataHistory(
  database: DatabaseSync,
  last: number,
): readonly { readonly no: number; readonly record: ArchivedHistory }[] {
  const rows = database
    .prepare(
      `select no, entity, at, principal, action, version, before, after from smalt_history
       where no > ? order by no limit ${HISTORY_PAGE}`,
    )
    .all(last) as unknown as (ArchivedHistory & { no: number; version: string | null })[]
  return rows.map(({ no, version, ...record }) => ({
    no,
    record: version === null ? record : { ...record, version },
  }))
}

const HISTORY_PAGE = 200
