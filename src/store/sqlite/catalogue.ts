/**
 * Maps collections to tables, and index definitions to indexes. Names of users are stored in rows of the
 * catalogue; tables and indexes are numbered, so that no such name becomes an SQL identifier.
 */
import type { DatabaseSync } from 'node:sqlite'
import { isIntoArray } from '../../base/path.ts'
import { TooMuchForThisThread } from '../../base/work/work.ts'
import type { Collection, IndexDefinition, IndexField } from '../../schema/schema.ts'
import { columnOf, columnsFor } from '../layout/columns.ts'
import { indexedSource } from '../layout/word-source.ts'
import type { CollectionDefinition } from '../metadata-records.ts'
import { canonicalText } from '../sql/describe-index.ts'
import { type ReadAs, readAsOf } from '../sql/read-as.ts'
import { MAX_TABLE_COLUMNS, addColumns } from './column-fill.ts'
import { RULES, columnList, printLayout } from './columns.ts'
import { beginningOf, createHistory, historyTableName } from './history-table.ts'
import { buildIndex, dropStatements } from './indexes.ts'
import {
  type Indexes,
  type Layout,
  layoutIn,
  noteChange,
  readAllIndexes,
  readIndexes,
  readLayout,
  readLayouts,
} from './records.ts'
import { type WordTables, wordTable, wordTexts } from './word-tokens.ts'
import { type ArrayIndex, arrayIndex, goesIntoArray } from './write/array-indexes.ts'
import { wordIndex } from './write/word-indexes.ts'

interface ElementTable {
  readonly name: string
  /** How its values were read. */
  readonly reading: ReadAs
}

export interface Table extends Layout {
  readonly no: number
  readonly name: string
  readonly entity: string
  /** Absent when history was never recorded. */
  readonly past?: HistoryTable
  readonly indexes: ReadonlyMap<number, IndexDefinition>
  /** Indexes for text search. */
  readonly wordIndexes: ReadonlyMap<number, IndexDefinition>
  /** The source of the words of such an index → its tables. */
  readonly wordTables: ReadonlyMap<string, WordTables>
  /** First paths of plain indexes. */
  readonly firsts: ReadonlySet<string>
  /** All paths of plain indexes: those after the first serve beside a condition on the ones before. */
  readonly ordered: ReadonlySet<string>
  /** Paths with an index of folded text. */
  readonly folded: ReadonlySet<string>
  /** Indexes with tables of their own, which writes maintain: into arrays, and for text search. */
  readonly arrays: readonly ArrayIndex[]
  /** Path into an array → the table with its elements in column `k0`. */
  readonly elements: ReadonlyMap<string, ElementTable>
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
  /** Drops the tables of a collection, and its records, in the open transaction. */
  drop(collection: Collection): void
  /** Turns history on from a timestamp, or off with null, in the open transaction. */
  putHistory(collection: Collection, since: number | null): void
  /** Reads the catalogue again, after a change was committed or rolled back. */
  reload(): void
  /** Reads it again if another thread has changed it. */
  refresh(): void
}

interface CatalogueOptions {
  /** The timestamp from which new history is complete. */
  readonly now: () => number
  /** Indexes over more documents than this are built on another thread. */
  readonly maxInlineRows: number
  /** Whether another thread changes the tables, so that each use looks for changes. */
  readonly isAttached?: boolean
  /** Called after each reading. */
  readonly onReload?: () => void
}

export function openCatalogue(database: DatabaseSync, options: CatalogueOptions): Catalogue {
  const describe = describingOnce()
  let tables = readTables(database, describe)
  let layouts = readLayouts(database)
  const reload = (): void => {
    tables = readTables(database, describe)
    layouts = readLayouts(database)
    options.onReload?.()
  }
  const refresh = (): void => {
    if (readLayouts(database) !== layouts) reload()
  }
  return {
    tableOf: (collection) => {
      if (options.isAttached === true) refresh()
      return tables.get(keyOf(collection))
    },
    tables: () => tables.values(),
    paths: () => readPaths(database),
    prepare: (definition) => prepare(database, definition, options),
    drop: (collection) => drop(database, collection),
    putHistory: (collection, since) => {
      const no = numberOf(database, collection)!
      createHistory(database, no)
      putHistorySince(database, no, since)
    },
    reload,
    refresh,
  }
}

function readTables(database: DatabaseSync, describe: Describe): ReadonlyMap<string, Table> {
  const tables = new Map<string, Table>()
  const indexes = readAllIndexes(database)
  const all = 'select no, name, entity, has_past, past_since, layout from smalt_collection'
  for (const row of database.prepare(all).all()) {
    const { no, name, entity } = row as { no: number; name: string; entity: string }
    const beside: Table['beside'] = (collection) => tables.get(keyOf(collection))
    const past = readHistory(row)
    const described = describe(no, indexes.get(no) ?? new Map())
    const layout = layoutIn(row['layout'])
    tables.set(keyOf({ name, entity }), { ...described, ...layout, entity, beside, ...(past && { past }) })
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

type Described = Omit<Table, 'beside' | 'entity' | keyof Layout>
type Describe = (no: number, all: Indexes) => Described

/** Describes a table again when its indexes are others; most changes are about one table of many. */
function describingOnce(): Describe {
  const described = new WeakMap<Indexes, Described>()
  return (no, all) => {
    const known = described.get(all)
    if (known?.no === no) return known
    const made = describeTable(no, all)
    described.set(all, made)
    return made
  }
}

function describeTable(no: number, all: Indexes): Described {
  const name = `doc_${no}`
  const indexes = new Map([...all].filter(([, { kind }]) => kind === undefined))
  const wordIndexes = new Map([...all].filter(([, { kind }]) => kind === 'text'))
  const firsts = [...indexes].map(([index, definition]) => ({
    index,
    definition,
    field: definition.fields[0]!,
  }))
  const intoArrays = firsts.filter(({ definition }) => goesIntoArray(definition))
  const plain = firsts.filter(({ definition }) => !goesIntoArray(definition))
  const elementTables = (isWanted: (field: IndexField) => boolean): ReadonlyMap<string, ElementTable> =>
    new Map(
      intoArrays
        .filter(({ field }) => isIntoArray(field.path) && isWanted(field))
        .map(({ index, field: { path, type, isMixed } }) => [
          path,
          { name: `arr_${index}`, reading: readAsOf(type, isMixed) },
        ]),
    )
  return {
    no,
    name,
    indexes,
    firsts: new Set(plain.filter(({ field }) => !field.caseInsensitive).map(({ field }) => field.path)),
    ordered: new Set(
      plain
        .flatMap(({ definition }) => definition.fields)
        .filter(({ caseInsensitive }) => !caseInsensitive)
        .map(({ path }) => path),
    ),
    folded: new Set(plain.filter(({ field }) => field.caseInsensitive).map(({ field }) => field.path)),
    wordIndexes,
    wordTables: new Map(
      [...wordIndexes].map(([index, definition]) => [
        indexedSource(definition),
        { fullText: wordTable(index), texts: wordTexts(index) },
      ]),
    ),
    arrays: [
      ...intoArrays.map(({ index, definition }) => arrayIndex(definition, name, index)),
      ...[...wordIndexes].map(([index, definition]) => wordIndex(definition, name, index)),
    ],
    elements: elementTables(({ caseInsensitive }) => !caseInsensitive),
    foldedElements: new Map(
      [...elementTables(({ caseInsensitive }) => caseInsensitive)].map(([path, { name: of }]) => [path, of]),
    ),
  }
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
  const no = known ? Number(known['no']) : createTable(database, definition)
  const before = known ? (JSON.parse(String(known['paths'])) as readonly string[]) : []
  const all = [...new Set([...before, ...paths])]
  database.prepare('update smalt_collection set paths = ? where no = ?').run(JSON.stringify(all), no)
  if (known) addColumns(database, no, indexes)
  changeIndexes(database, { collection: no, wanted: indexes, maxInlineRows })
  changeHistory(database, no, { history, now })
  noteChange(database)
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

function drop(database: DatabaseSync, collection: Collection): void {
  const no = numberOf(database, collection)
  if (no === undefined) return
  for (const index of readIndexes(database, no).keys()) {
    database.exec(dropStatements(index).join('; '))
  }
  database.exec(`drop table doc_${no}; drop table if exists ${historyTableName(no)}`)
  for (const each of ['smalt_index', 'smalt_fill'])
    database.prepare(`delete from ${each} where collection = ?`).run(no)
  database.prepare('delete from smalt_collection where no = ?').run(no)
  noteChange(database)
}

/**
 * Columns precede the text: SQLite reads a row from its beginning, and a long text continues on other pages. Columns
 * that are added later can only follow it.
 */
function createTable(
  database: DatabaseSync,
  { collection: { name, entity }, paths, indexes }: CollectionDefinition,
): number {
  const columns = columnsFor({ paths, indexes }, RULES)
    .slice(0, MAX_TABLE_COLUMNS)
    .map((definition, i) => columnOf(definition, { no: i + 1, isFilled: true }))
  const insert = database.prepare(
    `insert into smalt_collection(name, entity, paths, layout) values (?, ?, '[]', ?) returning no`,
  )
  const no = Number(insert.get(name, entity, printLayout(columns))!['no'])
  database.exec(
    `create table doc_${no}(no integer primary key, id not null unique, version integer not null${columnList(columns)}, doc text not null)`,
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
    database.exec(dropStatements(no).join('; '))
    database.prepare('delete from smalt_index where no = ?').run(no)
  }
  if (definitions.size > 0) requireFewRows(database, collection, maxInlineRows)
  const { columns } = readLayout(database, collection)!
  for (const [text, index] of definitions) {
    const insert = database.prepare(
      'insert into smalt_index(collection, definition) values (?, ?) returning no',
    )
    const no = Number(insert.get(collection, text)!['no'])
    buildIndex(database, index, { table: `doc_${collection}`, no, columns })
  }
}

/** An index build cannot be interrupted, and blocks the thread. */
function requireFewRows(database: DatabaseSync, collection: number, maxRows: number): void {
  if (maxRows === Infinity) return
  const last = database.prepare(`select max(no) as last from doc_${collection}`).get()
  if (Number(last?.['last'] ?? 0) > maxRows) throw new TooMuchForThisThread()
}
