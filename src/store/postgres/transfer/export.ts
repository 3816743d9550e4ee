/** Exports collections and their documents, for a transfer to another store. */
import type { CollectionExport } from '../../tables/export.ts'
import { type ExportedChange, type ExportedCollection, type ExportedDocument, PAGE } from '../../transfer.ts'
import type { SqlSession } from '../connection/connection.ts'
import { type CollectionRecord, readCollections, readIndexes, tableName } from '../schema/catalogue.ts'
import { findCollection } from '../schema/collections.ts'
import { type ExportPage, changesAfter } from './export-history.ts'

/** Runs one operation of a transfer. */
export type Run = <T>(work: () => Promise<T>) => Promise<T>

export function collectionExport(session: SqlSession, run: Run): CollectionExport {
  return {
    collections: () => run(() => exportedCollections(session)),
    async *documents(collection) {
      let limit: number = FIRST_PAGE
      for (let last: string | undefined; ;) {
        const page = await run(() => documentsAfter(last, { collection, limit, session }))
        if (page.length === 0) return
        last = page.at(-1)!.key
        limit = limitAfter(page)
        yield page
      }
    },
    async *past(collection) {
      let limit: number = FIRST_PAGE
      for (let last: ExportedChange | undefined; ;) {
        const page = await run(() => changesAfter(last, { collection, limit, session }))
        if (page.length === 0) return
        last = page.at(-1)!
        limit = limitAfter(page)
        yield page
      }
    },
  }
}

async function exportedCollections(session: SqlSession): Promise<readonly ExportedCollection[]> {
  const indexes = await readIndexes(session)
  const collections: ExportedCollection[] = []
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
}: CollectionRecord): Pick<ExportedCollection, 'history' | 'historySince'> {
  return hasHistory ? { history: historySince !== undefined, historySince: historySince ?? null } : {}
}

async function documentsAfter(
  last: string | undefined,
  { collection, limit, session }: ExportPage,
): Promise<readonly ExportedDocument[]> {
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

/**
 * The size of documents is known only after they are read, so the size of this page determines the limit of
 * the next one.
 */
function limitAfter(page: readonly { readonly text: string }[]): number {
  const characters = page.reduce((sum, { text }) => sum + text.length, 0)
  const fitting = Math.floor((PAGE.characters * page.length) / Math.max(characters, 1))
  return Math.max(1, Math.min(fitting, page.length * 4, PAGE.documents))
}

const FIRST_PAGE = 64
