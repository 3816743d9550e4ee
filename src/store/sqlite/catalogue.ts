/**
 * Maps collections to tables, and index definitions to indexes. Names of users are stored in rows of the
 * catalogue; tables and indexes are numbered, so that no such name becomes an SQL identifier.
 */
import type { DatabaseSync } from 'node:sqlite'
import { ServiceError } from '../../base/errors.ts'
import { parsePath } from '../../base/path.ts'
import { TooMuchForThisThread } from '../../base/work/work.ts'
import type { Collection, IndexDefinition, IndexField } from '../../schema/schema.ts'
import { canonicalText } from '../sql/describe-index.ts'
import { type Fragment, join, raw, render, sql } from '../sql/fragment.ts'
import { readingOf } from '../sql/reading.ts'
import { DOCUMENT, SQLITE } from '../sql/sqlite-dialect.ts'
import type { CollectionDefinition } from '../metadata-records.ts'
import { type ArrayIndex, arrayIndex, goesIntoArray, isIntoArray } from './write/array-indexes.ts'
import { isConstraintError } from './file/failures.ts'
import { beginningOf, createHistory, historyTableName } from './history-table.ts'

export interface Table {
  readonly no: number
  readonly name: string
  readonly entity: string
  /** Absent when history was never recorded. */
  readonly past?: HistoryTable
  readonly indexes: ReadonlyMap<number, IndexDefinition>
  /** First paths of plain indexes. */
  readonly firsts: ReadonlySet<string>
  /** Paths with an index of folded text. */
  readonly folded: ReadonlySet<string>
  /** Indexes into arrays, which writes maintain. */
  readonly arrays: readonly ArrayIndex[]
  /** Path into an array → the table with its elements in column `k0`. */
  readonly elements: ReadonlyMap<string, string>
  /** The same for indexes of folded text. */
  readonly foldedElements: ReadonlyMap<string, string>
  /** The table of another collection, from the same reading of the catalogue. */
  readonly beside: (collection: Collection) => Table | undefined
}

export interface HistoryTable {
  readonly name: string
  /** The timestamp from which history is complete; absent while it is off. */
  readonly since?: number
}

export interface Catalogue {
  /** The table of a collection; undefined while it has never been declared. */
  tableOf(collection: Collection): Table | undefined
  tables(): Iterable<Table>
  paths(): readonly { readonly name: string; readonly entity: string; readonly paths: readonly string[] }[]
  /** Creates or changes table and indexes, in the open transaction. */
  prepare(definition: CollectionDefinition): void
  /** Turns history on from a timestamp, or off with null, in the open transaction. */
  putHistory(collection: Collection, since: number | null): void
  /** Reads the catalogue again, after a change was committed or rolled back. */
  reload(): void
}

interface CatalogueOptions {
  /** The timestamp from which new history is complete. */
  readonly now: () => number
  /** Indexes over more documents than this are built on another thread. */
  readonly maxInlineRows: number
}

export function openCatalogue(database: DatabaseSync, options: CatalogueOptions): Catalogue {
  let tables = readTables(database)
  return {
    tableOf: (collection) => tables.get(keyOf(collection)),
    tables: () => tables.values(),
    paths: () => readPaths(database),
    prepare: (definition) => prepare(database, definition, options),
    putHistory: (collection, since) => {
      const no = numberOf(database, collection)!
      createHistory(database, no)
      putHistorySince(database, no, since)
    },
    reload() {
      tables = readTables(database)
    },
  }
}

function readTables(database: DatabaseSync): ReadonlyMap<string, Table> {
  const tables = new Map<string, Table>()
  const all = 'select no, name, entity, has_past, past_since from smalt_collection'
  for (const row of database.prepare(all).all()) {
    const { no, name, entity } = row as { no: number; name: string; entity: string }
    const beside: Table['beside'] = (collection) => tables.get(keyOf(collection))
    const past = readHistory(row)
    const described = describeTable(no, readIndexes(database, no))
    tables.set(keyOf({ name, entity }), { ...described, entity, beside, ...(past && { past }) })
  }
  return tables
}

function readHistory({ no, has_past, past_since }: Record<string, unknown>): HistoryTable | undefined {
  if (has_past !== 1) return undefined
  const name = historyTableName(Number(no))
  return past_since === null ? { name } : { name, since: Number(past_since) }
}

function keyOf({ name, entity }: Pick<Collection, 'name' | 'entity'>): string {
  return `${name}/${entity}`
}

function describeTable(
  no: number,
  indexes: ReadonlyMap<number, IndexDefinition>,
): Omit<Table, 'beside' | 'entity'> {
  const name = `doc_${no}`
  const firsts = [...indexes].map(([index, definition]) => ({
    index,
    definition,
    field: definition.fields[0]!,
  }))
  const intoArrays = firsts.filter(({ definition }) => goesIntoArray(definition))
  const plain = firsts.filter(({ definition }) => !goesIntoArray(definition))
  const elementTables = (isWanted: (field: IndexField) => boolean): ReadonlyMap<string, string> =>
    new Map(
      intoArrays
        .filter(({ field }) => isIntoArray(field.path) && isWanted(field))
        .map(({ index, field }) => [field.path, `arr_${index}`]),
    )
  return {
    no,
    name,
    indexes,
    firsts: new Set(plain.filter(({ field }) => !field.caseInsensitive).map(({ field }) => field.path)),
    folded: new Set(plain.filter(({ field }) => field.caseInsensitive).map(({ field }) => field.path)),
    arrays: intoArrays.map(({ index, definition }) => arrayIndex(definition, name, index)),
    elements: elementTables(({ caseInsensitive }) => !caseInsensitive),
    foldedElements: elementTables(({ caseInsensitive }) => caseInsensitive),
  }
}

function readIndexes(database: DatabaseSync, collection: number): ReadonlyMap<number, IndexDefinition> {
  const rows = database
    .prepare('select no, definition from smalt_index where collection = ? order by no')
    .all(collection)
  return new Map(
    rows.map((row) => [Number(row['no']), JSON.parse(String(row['definition'])) as IndexDefinition]),
  )
}

function readPaths(database: DatabaseSync) {
  return database
    .prepare('select name, entity, paths from smalt_collection')
    .all()
    .map((row) => ({
      name: String(row['name']),
      entity: String(row['entity']),
      paths: JSON.parse(String(row['paths'])) as readonly string[],
    }))
}

function prepare(
  database: DatabaseSync,
  definition: CollectionDefinition,
  { now, maxInlineRows }: CatalogueOptions,
): void {
  const { collection, indexes, paths, history = false } = definition
  const { name, entity } = collection
  const known = database
    .prepare('select no, paths from smalt_collection where name = ? and entity = ?')
    .get(name, entity)
  const no = known ? Number(known['no']) : createTable(database, collection)
  const before = known ? (JSON.parse(String(known['paths'])) as readonly string[]) : []
  const all = [...new Set([...before, ...paths])]
  database.prepare('update smalt_collection set paths = ? where no = ?').run(JSON.stringify(all), no)
  changeIndexes(database, { collection: no, wanted: indexes, maxInlineRows })
  changeHistory(database, no, { history, now })
}

/** Existing history is never removed. After an interruption, history is complete only from the new start on. */
function changeHistory(
  database: DatabaseSync,
  no: number,
  { history, now }: { readonly history: boolean; readonly now: () => number },
): void {
  const row = database.prepare('select no, has_past, past_since from smalt_collection where no = ?').get(no)!
  const past = readHistory(row)
  if (history === (past?.since !== undefined)) return
  if (history && !past) createHistory(database, no)
  const since = history ? beginningOf(database, no, now()) : null
  putHistorySince(database, no, since)
}

function putHistorySince(database: DatabaseSync, no: number, since: number | null): void {
  database.prepare('update smalt_collection set has_past = 1, past_since = ? where no = ?').run(since, no)
}

function numberOf(database: DatabaseSync, { name, entity }: Collection): number | undefined {
  const found = database.prepare('select no from smalt_collection where name = ? and entity = ?')
  const row = found.get(name, entity)
  return row && Number(row['no'])
}

function createTable(database: DatabaseSync, { name, entity }: Collection): number {
  const insert = database.prepare(
    `insert into smalt_collection(name, entity, paths) values (?, ?, '[]') returning no`,
  )
  const no = Number(insert.get(name, entity)!['no'])
  database.exec(
    `create table doc_${no}(no integer primary key, id not null unique, version integer not null, doc text not null)`,
  )
  return no
}

/** Unchanged indexes are not rebuilt. */
function changeIndexes(
  database: DatabaseSync,
  {
    collection,
    wanted,
    maxInlineRows,
  }: {
    readonly collection: number
    readonly wanted: readonly IndexDefinition[]
    readonly maxInlineRows: number
  },
): void {
  const definitions = new Map(wanted.map((index) => [canonicalText(index), index]))
  for (const [no, index] of readIndexes(database, collection)) {
    if (definitions.delete(canonicalText(index))) continue
    database.exec(
      `drop index if exists idx_${no}; drop index if exists idx_${no}_some; drop table if exists arr_${no}`,
    )
    database.prepare('delete from smalt_index where no = ?').run(no)
  }
  if (definitions.size > 0) requireFewRows(database, collection, maxInlineRows)
  for (const [text, index] of definitions) {
    const insert = database.prepare(
      'insert into smalt_index(collection, definition) values (?, ?) returning no',
    )
    buildIndex(database, index, { collection, no: Number(insert.get(collection, text)!['no']) })
  }
}

/** An index build cannot be interrupted, and blocks the thread. */
function requireFewRows(database: DatabaseSync, collection: number, maxRows: number): void {
  if (maxRows === Infinity) return
  const last = database.prepare(`select max(no) as last from doc_${collection}`).get()
  if (Number(last?.['last'] ?? 0) > maxRows) throw new TooMuchForThisThread()
}

function buildIndex(
  database: DatabaseSync,
  index: IndexDefinition,
  { collection, no }: { collection: number; no: number },
): void {
  try {
    for (const statement of buildStatements(index, { collection, no })) database.exec(statement)
  } catch (error) {
    if (!isConstraintError(error)) throw error
    const names = index.fields.map(({ path }) => path).join(', ')
    throw new ServiceError(
      'metadata:InvalidIndex',
      `documents already repeat values of the unique index on ${names}`,
    )
  }
}

function buildStatements(index: IndexDefinition, { collection, no }: { collection: number; no: number }) {
  if (!goesIntoArray(index)) return indexStatements(index, `doc_${collection}`, `idx_${no}`)
  const { create, enterAll } = arrayIndex(index, `doc_${collection}`, no)
  return [...create, enterAll]
}

function indexStatements(
  { unique, fields }: IndexDefinition,
  table: string,
  name: string,
): readonly string[] {
  const keys = fields.map((field) => sql`${indexed(field)} ${raw(field.descending ? 'desc' : 'asc')}`)
  // `id` is the last column, as it breaks ties of the sort: the index then also serves the order of a page.
  const columns = join(unique ? keys : [...keys, raw('id')], ', ')
  const main = sql`create ${raw(unique ? 'unique ' : '')}index ${raw(name)} on ${raw(table)}(${columns})`
  if (!unique || fields.length === 1) return [text(main)]
  // SQLite treats null as distinct in unique indexes, so a key with one null part could repeat. This second
  // index keeps documents unique that lack only some parts. A blob stands for null, because no value is a
  // blob.
  const values = fields.map(indexed)
  const filled = join(
    values.map((value) => sql`ifnull(${value}, x'')`),
    ', ',
  )
  const isNull = (value: Fragment): Fragment => sql`${value} is null`
  const some = sql`(${join(values.map(isNull), ' or ')}) and not (${join(values.map(isNull), ' and ')})`
  const partial = sql`create unique index ${raw(`${name}_some`)} on ${raw(table)}(${filled}) where ${some}`
  return [text(main), text(partial)]
}

function indexed({ path, type, isMixed, caseInsensitive }: IndexField): Fragment {
  const value = SQLITE.read(DOCUMENT, parsePath(path, ''), readingOf(type, isMixed))
  return caseInsensitive ? SQLITE.fold(value) : value
}

function text(fragment: Fragment): string {
  return render(fragment, SQLITE.placeholder).text
}
