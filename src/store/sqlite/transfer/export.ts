/** Exports collections and their documents, for a move to another store. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { orderKey } from '../../../base/decimal.ts'
import type { CollectionExport } from '../../tables/export.ts'
import { type ExportedCollection, type ExportedDocument, PAGE } from '../../transfer.ts'
import type { Catalogue, Table } from '../catalogue.ts'
import { exportedHistory } from './export-history.ts'

/** Whether the directory contains a store; opening it would create one. */
export function isStoreIn(directory: string): boolean {
  return existsSync(join(directory, 'smalt.db'))
}

export function collectionExport(database: DatabaseSync, catalogue: Catalogue): CollectionExport {
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
  }
}

function readCollections(database: DatabaseSync, catalogue: Catalogue): readonly ExportedCollection[] {
  return catalogue.paths().map(({ name, entity, paths }) => {
    const collection = { datasource: '', name, entity }
    const table = catalogue.tableOf(collection)!
    const { count } = database.prepare(`select count(*) count from ${table.name}`).get() as { count: number }
    return {
      collection,
      paths,
      indexes: [...table.indexes.values(), ...table.wordIndexes.values()],
      count,
      ...historyIn(table),
    }
  })
}

function historyIn({ past }: Table): Pick<ExportedCollection, 'history' | 'historySince'> {
  return past ? { history: past.since !== undefined, historySince: past.since ?? null } : {}
}

function readDocuments(database: DatabaseSync, table: string, last: bigint) {
  const statement = database.prepare(
    `select no, id, version, doc from ${table} where no > ? order by no limit ?`,
  )
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  const documents: ExportedDocument[] = []
  let characters = 0
  let reached = last
  const rows = statement.iterate(last, PAGE.documents) as unknown as Iterable<DocumentRow>
  for (const [no, id, version, text] of rows) {
    // A number that is stored as text already has this form.
    const key = typeof id === 'string' ? id : orderKey(String(id))!
    documents.push({ key, version: Number(version), text })
    reached = no
    characters += text.length
    if (characters > PAGE.characters) break
  }
  return { documents, last: reached }
}

type DocumentRow = readonly [no: bigint, id: string | number | bigint, version: bigint, text: string]
