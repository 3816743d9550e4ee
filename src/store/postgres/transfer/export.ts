/** All that the database holds, for a move to another store; `receiving.ts` is the other direction. */
import {
  type Archive,
  type ArchivedChange,
  type ArchivedCollection,
  type ArchivedDocument,
  type ArchivedHistory,
  type ArchivedSequence,
  PAGE,
} from '../../transfer.ts'
import { archivedEvents, archivedLastEvent, archivedSinks } from './export-events.ts'
import type { OutboxReading } from '../../tables/outbox-heads.ts'
import { type Reading, changesAfter } from './export-history.ts'
import type { Builder } from '../schema/index-builds.ts'
import { type CollectionRecord, readCollections, readIndexes, tableName } from '../schema/catalogue.ts'
import { findCollection } from '../schema/collections.ts'
import type { Session } from '../connection/connections.ts'
import { historyFrom, readMetadata } from '../schema/metadata.ts'
import { type Run, obstacleIn, receive } from './import.ts'
import { inTransaction } from '../connection/transaction.ts'

export function archiveOf(
  builder: Builder & { readonly numberEvents: () => void; readonly outbox: Omit<OutboxReading, 'bounds'> },
  runAs: <T>(operation: string, work: () => Promise<T>) => Promise<T>,
): Archive {
  const { connections, numberEvents, outbox } = builder
  const run: Run = (work) => runAs('move', work)
  return {
    collections: () => run(() => archivedCollections(connections)),
    async *documents(collection) {
      let limit: number = FIRST_PAGE
      for (let last: string | undefined; ;) {
        const page = await run(() => documentsAfter(last, { collection, limit, session: connections }))
        if (page.length === 0) return
        last = page.at(-1)!.key
        limit = limitAfter(page)
        yield page
      }
    },
    async *past(collection) {
      let limit: number = FIRST_PAGE
      for (let last: ArchivedChange | undefined; ;) {
        const page = await run(() => changesAfter(last, { collection, limit, session: connections }))
        if (page.length === 0) return
        last = page.at(-1)!
        limit = limitAfter(page)
        yield page
      }
    },
    sequences: () => run(() => archivedSequences(connections)),
    async *history() {
      for (let last = '0'; ;) {
        const page = await run(() => historyAfter(last, connections))
        if (page.length === 0) return
        last = page.at(-1)!.no
        yield page.map(({ record }) => record)
      }
    },
    async *events() {
      numberEvents()
      await run(async () => undefined)
      yield* archivedEvents(connections, outbox)
    },
    lastEvent() {
      numberEvents()
      return run(() => archivedLastEvent(connections))
    },
    sinks: () => run(() => archivedSinks(connections)),
    records: () =>
      run(async () => {
        const all = await inTransaction(connections, readMetadata, { isOneMoment: true })
        const { collections: _, ...records } = all
        return records
      }),
    obstacle: () => run(() => obstacleIn(connections)),
    receive: ({ discardsUnfinished }) => run(() => receive(builder, run, discardsUnfinished)),
  }
}

async function archivedCollections(session: Session): Promise<readonly ArchivedCollection[]> {
  const indexes = await readIndexes(session)
  const collections: ArchivedCollection[] = []
  for (const record of await readCollections(session)) {
    const [row] = await session.query({ text: `select count(*) from ${tableName(record)}`, values: [] })
    const ready = indexes.filter(({ collection, isReady }) => collection === record.no && isReady)
    collections.push({
      collection: { datasource: '', name: record.name, entity: record.entity },
      paths: record.paths,
      indexes: ready.map(({ definition }) => definition),
      count: Number(row![0]),
      ...historyIn(record),
    })
  }
  return collections
}

function historyIn({
  hasHistory,
  historySince,
}: CollectionRecord): Pick<ArchivedCollection, 'history' | 'historySince'> {
  return hasHistory ? { history: historySince !== undefined, historySince: historySince ?? null } : {}
}

async function documentsAfter(
  last: string | undefined,
  { collection, limit, session }: Reading,
): Promise<readonly ArchivedDocument[]> {
  const record = await findCollection(session, collection)
  if (!record) return []
  const from = `select id, version, doc from ${tableName(record)}`
  const statement =
    last === undefined
      ? { text: `${from} order by id limit $1`, values: [limit] }
      : { text: `${from} where id > $2 order by id limit $1`, values: [limit, last] }
  const rows = await session.query(statement)
  return rows.map(([key, version, text]) => ({ key: key!, version: Number(version), text: text! }))
}

/** How large documents are shows only when they are here, so the next page is made by the size of this one. */
function limitAfter(page: readonly { readonly text: string }[]): number {
  const characters = page.reduce((sum, { text }) => sum + text.length, 0)
  const fitting = Math.floor((PAGE.characters * page.length) / Math.max(characters, 1))
  return Math.max(1, Math.min(fitting, page.length * 4, PAGE.documents))
}

const FIRST_PAGE = 64

async function archivedSequences(session: Session): Promise<readonly ArchivedSequence[]> {
  const text = 'select name, next, increment from smalt_sequence order by name'
  const rows = await session.query({ text, values: [] })
  return rows.map(([name, next, increment]) => ({
    name: name!,
    next: BigInt(next!),
    increment: BigInt(increment!),
  }))
}

async function historyAfter(
  last: string,
  session: Session,
): Promise<readonly { readonly no: string; readonly record: ArchivedHistory }[]> {
  const text = `select no, entity, at, principal, action, version, before, after from smalt_history
    where no > $1::bigint order by no limit ${HISTORY_PAGE}`
  const rows = await session.query({ text, values: [last] })
  return rows.map(([no, entity, ...record]) => ({
    no: no!,
    record: { entity: entity!, ...historyFrom(record) },
  }))
}

const HISTORY_PAGE = 200
