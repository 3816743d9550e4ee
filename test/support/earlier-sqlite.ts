/** Makes the tables of a SQLite store what a release without columns would have left. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { columnList, columnValues, parseLayout } from '../../src/store/sqlite/columns.ts'
import { addFunctions } from '../../src/store/sqlite/file/functions.ts'
import { createStatements, dropStatements } from '../../src/store/sqlite/indexes.ts'
import { isComplete, layoutIn, readIndexes } from '../../src/store/sqlite/records.ts'
import { goesIntoArray } from '../../src/store/sqlite/write/array-indexes.ts'
import { jsonObject } from './service.ts'

/** No process may use the store. */
export function toEarlierSqlite(directory: string): void {
  using database = open(directory)
  database.exec('begin')
  for (const { no, layout } of collectionsIn(database)) {
    const indexes = [...readIndexes(database, no)].filter(([, definition]) => !goesIntoArray(definition))
    for (const [index] of indexes) database.exec(dropStatements(index).join('; '))
    for (const { name } of parseLayout(layout)) database.exec(`alter table doc_${no} drop column ${name}`)
    for (const [index, definition] of indexes) {
      const place = { table: `doc_${no}`, no: index, columns: [] }
      for (const text of createStatements(definition, place)) database.exec(text)
    }
  }
  database.exec('drop index smalt_lock_caller; alter table smalt_lock drop column caller')
  database.exec(`drop table smalt_fill; alter table smalt_collection drop column layout;
    alter table smalt_epoch drop column layouts; pragma user_version = 7; commit`)
}

/** Whether all columns of all tables are filled. */
export function isFilled(directory: string): boolean {
  using database = open(directory)
  const columns = database.prepare('pragma table_info(smalt_collection)').all()
  if (!columns.some(({ name }) => name === 'layout')) return false
  return collectionsIn(database).every(({ layout }) => isComplete(layoutIn(layout)))
}

/** Every column holds what its document says. */
export function checkColumns(directory: string): void {
  using database = open(directory)
  for (const { no, layout } of collectionsIn(database)) {
    const columns = parseLayout(layout)
    const statement = database.prepare(`select doc${columnList(columns)} from doc_${no}`)
    statement.setReturnArrays(true)
    statement.setReadBigInts(true)
    for (const [text, ...held] of statement.all() as unknown as [string, ...unknown[]][]) {
      assert.deepEqual(held, columnValues(jsonObject(text), columns), text)
    }
  }
}

function collectionsIn(database: DatabaseSync) {
  const rows = database.prepare('select no, layout from smalt_collection').all()
  return rows.map(({ no, layout }) => ({ no: Number(no), layout: layout as string | null }))
}

function open(directory: string): DatabaseSync {
  const database = new DatabaseSync(join(directory, 'smalt.db'), { timeout: 5_000 })
  addFunctions(database, () => undefined)
  return database
}
