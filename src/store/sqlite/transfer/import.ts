/** Creates collections in an empty file and fills them with the documents of another store. */
import type { DatabaseSync } from 'node:sqlite'
import { type JsonObject, isNumber } from '../../../base/json/json.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import type { Collection } from '../../../schema/schema.ts'
import { bind } from '../../sql/sqlite-dialect.ts'
import type { CollectionImport } from '../../tables/import.ts'
import { type ExportedDocument, type ImportedCollection, UnfitError } from '../../transfer.ts'
import type { Catalogue } from '../catalogue.ts'
import { columnValues, insertStatement } from '../columns.ts'
import { isConstraintError } from '../file/failures.ts'
import type { Writer } from '../write/writer.ts'
import { addDocumentHistory } from './export-history.ts'

interface Parts {
  readonly database: DatabaseSync
  readonly catalogue: Catalogue
  readonly writer: Writer
}

export function collectionImport({ database, catalogue, writer }: Parts): CollectionImport {
  const received = new Map<string, ImportedCollection>()
  const definitionOf = ({ name, entity }: Collection) => received.get(`${name}/${entity}`)!

  /** Reloads the catalogue afterwards, because tables may have changed. */
  async function change(work: () => void): Promise<void> {
    try {
      await writer.transact(async () => work())
    } finally {
      catalogue.reload()
    }
  }

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
        const table = catalogue.tableOf(collection)!
        const insert = database.prepare(insertStatement(table))
        const idOf = idReader(definitionOf(collection))
        try {
          for (const each of documents) {
            const values = columnValues(parseTrusted(each.text) as JsonObject, table.columns)
            insert.run(idOf(each), each.version, each.text, ...values)
          }
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
    async dropCollections() {
      const made = database.prepare(`select name from sqlite_master where type = 'table' and name glob ?`)
      // Full-text tables have tables of their own, which go with them.
      const fullText = database.prepare(
        `select name from sqlite_master where name glob 'words_[0-9]*' and sql like 'create virtual table%'`,
      )
      const plain = ['doc_[0-9]*', 'arr_[0-9]*', 'texts_[0-9]*', 'past_[0-9]*'].flatMap((names) =>
        made.all(names),
      )
      const tables = [...plain, ...fullText.all()]
      for (const { name } of tables) database.exec(`drop table ${String(name)}`)
    },
  }
}

/** The `_id` column stores numbers in the form of the field's type. */
function idReader({ collection, numericIdType }: ImportedCollection) {
  return ({ key, text }: Pick<ExportedDocument, 'key' | 'text'>) => {
    const id = (parseTrusted(text) as JsonObject)['_id']!
    if (!isNumber(id)) return key
    if (numericIdType === undefined) {
      throw new UnfitError(collection, 'its _id is a number, and no metadata defines the type of it')
    }
    return bind(id, numericIdType)
  }
}
