/** Declared indexes as SQLite's: the statements that create and drop them. */
import type { DatabaseSync } from 'node:sqlite'
import { parsePath } from '../../base/path.ts'
import type { IndexDefinition, IndexField } from '../../schema/schema.ts'
import { repeatedValues } from '../layout/unique-claims.ts'
import type { Column } from '../layout/columns.ts'
import type { Base } from '../sql/dialect.ts'
import { type Fragment, join, raw, render, sql } from '../sql/fragment.ts'
import { readAsOf } from '../sql/read-as.ts'
import { SQLITE } from '../sql/sqlite-dialect.ts'
import { documentIn } from './columns.ts'
import { isConstraintError } from './file/failures.ts'
import { wordTable, wordTexts } from './word-tokens.ts'
import { arrayIndex, goesIntoArray } from './write/array-indexes.ts'
import { wordIndex } from './write/word-indexes.ts'

interface IndexedTable {
  readonly table: string
  readonly no: number
  readonly columns: readonly Column[]
}

export function buildIndex(database: DatabaseSync, index: IndexDefinition, place: IndexedTable): void {
  try {
    for (const statement of createStatements(index, place)) database.exec(statement)
  } catch (error) {
    throw isConstraintError(error) ? repeatedValues(index) : error
  }
}

export function createStatements(index: IndexDefinition, { table, no, columns }: IndexedTable) {
  const isOfWords = index.kind === 'text'
  if (!isOfWords && !goesIntoArray(index))
    return plainStatements(index, { table, name: `idx_${no}`, columns })
  const { create, enterAll } = (isOfWords ? wordIndex : arrayIndex)(index, table, no)
  return [...create, enterAll]
}

export function dropStatements(no: number): readonly string[] {
  return [
    `drop index if exists idx_${no}`,
    `drop index if exists idx_${no}_some`,
    `drop table if exists arr_${no}`,
    `drop table if exists ${wordTexts(no)}`,
    `drop table if exists ${wordTable(no)}`,
  ]
}

function plainStatements(
  { unique, fields }: IndexDefinition,
  { table, name, columns: held }: Pick<IndexedTable, 'table' | 'columns'> & { readonly name: string },
): readonly string[] {
  const document = documentIn(held)
  const values = fields.map((field) => indexed(field, document))
  const keys = values.map((value, i) => sql`${value} ${raw(fields[i]!.descending ? 'desc' : 'asc')}`)
  // `id` is the last column, as it breaks ties of the sort: the index then also serves the order of a page.
  const columns = join(unique ? keys : [...keys, raw('id')], ', ')
  const main = sql`create ${raw(unique ? 'unique ' : '')}index ${raw(name)} on ${raw(table)}(${columns})`
  if (!unique || fields.length === 1) return [text(main)]
  // SQLite treats null as distinct in unique indexes, so a key with one null part could repeat. This second
  // index keeps documents unique that lack only some parts. A blob stands for null, because no value is a
  // blob.
  const filled = join(
    values.map((value) => sql`ifnull(${value}, x'')`),
    ', ',
  )
  const isNull = (value: Fragment): Fragment => sql`${value} is null`
  const some = sql`(${join(values.map(isNull), ' or ')}) and not (${join(values.map(isNull), ' and ')})`
  const partial = sql`create unique index ${raw(`${name}_some`)} on ${raw(table)}(${filled}) where ${some}`
  return [text(main), text(partial)]
}

function indexed({ path, type, isMixed, caseInsensitive }: IndexField, document: Base): Fragment {
  const value = SQLITE.read(document, parsePath(path, ''), readAsOf(type, isMixed))
  return caseInsensitive ? SQLITE.fold(value) : value
}

function text(fragment: Fragment): string {
  return render(fragment, SQLITE.placeholder).text
}
