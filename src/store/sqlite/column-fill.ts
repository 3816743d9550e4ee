/**
 * Adds columns to tables with documents, and enters the documents into them, in small transactions while others go on
 * writing. Writes fill new columns themselves; until all older documents are entered, the text answers. Every batch
 * records the row that it came to, so that the next process continues after a crash.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { JsonObject } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import type { IndexDefinition } from '../../schema/schema.ts'
import { type Column, columnOf, missingColumns } from '../layout/columns.ts'
import type { Statement } from '../sql/fragment.ts'
import { RULES, columnChanges, columnValues, printLayout } from './columns.ts'
import { createStatements, dropStatements } from './indexes.ts'
import { putLayout, readIndexes, readLayout } from './records.ts'
import { goesIntoArray } from './write/array-indexes.ts'

/** SQLite allows 2,000 columns in a table. Fields beyond this number are read from the text. */
export const MAX_TABLE_COLUMNS = 1_000

/** Adds the columns that a table lacks, in the open transaction. A small table is filled at once. */
export function addColumns(database: DatabaseSync, no: number, indexes: readonly IndexDefinition[]): void {
  const { columns, isEarlier } = readLayout(database, no)!
  const missing = missingColumns(columns, { paths: readPaths(database, no), indexes }, RULES)
  const next = 1 + Math.max(0, ...columns.map((each) => each.no))
  const added = missing
    .slice(0, Math.max(0, MAX_TABLE_COLUMNS - columns.length))
    .map((definition, i) => columnOf(definition, { no: next + i, isFilled: false }))
  if (added.length === 0 && !isEarlier) return
  for (const { name } of added) database.exec(`alter table doc_${no} add column ${name}`)
  database.prepare('delete from smalt_fill where collection = ?').run(no)
  putLayout(database, no, [...columns, ...added])
  if (!isSmall(database, no)) return
  let entered: readonly Column[] | undefined
  while (!entered) entered = enterBatch(database, no)
  for (const { text, values } of completion(database, no, entered)) database.prepare(text).run(...values)
}

/** The same for a table of a release without columns. */
export function adopt(database: DatabaseSync, no: number): void {
  if (readLayout(database, no)?.isEarlier === true) {
    addColumns(database, no, [...readIndexes(database, no).values()])
  }
}

function readPaths(database: DatabaseSync, no: number): readonly string[] {
  const row = database.prepare('select paths from smalt_collection where no = ?').get(no)!
  return JSON.parse(String(row['paths'])) as readonly string[]
}

const SMALL_ROWS = 500
const SMALL_BYTES = 1_000_000

/** Whether its documents are entered, and its indexes built, within milliseconds. */
function isSmall(database: DatabaseSync, no: number): boolean {
  const last = database.prepare(`select max(no) as last from doc_${no}`).get()
  if (Number(last?.['last'] ?? 0) > SMALL_ROWS) return false
  const size = database.prepare(`select sum(octet_length(doc)) as bytes from doc_${no}`).get()
  return Number(size?.['bytes'] ?? 0) <= SMALL_BYTES
}

const BATCH_ROWS = 200
const BATCH_CHARACTERS = 500_000

/** Enters the next documents, in the open transaction. Returns the columns once no document is left. */
export function enterBatch(database: DatabaseSync, no: number): readonly Column[] | undefined {
  const pending = readLayout(database, no)?.columns.filter(({ isFilled }) => !isFilled) ?? []
  if (pending.length === 0) return pending
  const last = database.prepare('select position from smalt_fill where collection = ?').get(no)
  const rows = nextRows(database, no, Number(last?.['position'] ?? 0))
  const enter = database.prepare(
    `update doc_${no} set version = version${columnChanges(pending)} where no = ?`,
  )
  for (const [row, text] of rows) enter.run(...columnValues(parseTrusted(text) as JsonObject, pending), row)
  const reached = rows.at(-1)
  if (!reached) return pending
  const put = `insert into smalt_fill(collection, position) values (?, ?)
    on conflict (collection) do update set position = excluded.position`
  database.prepare(put).run(no, reached[0])
  return undefined
}

function nextRows(database: DatabaseSync, no: number, last: number): readonly Row[] {
  const statement = database.prepare(`select no, doc from doc_${no} where no > ? order by no limit ?`)
  statement.setReturnArrays(true)
  const rows: Row[] = []
  let characters = 0
  for (const row of statement.iterate(last, BATCH_ROWS) as unknown as Iterable<Row>) {
    rows.push(row)
    characters += row[1].length
    if (characters > BATCH_CHARACTERS) break
  }
  return rows
}

type Row = readonly [no: number, text: string]

/** The statements that let queries use the columns into which all documents are entered. */
export function completion(
  database: DatabaseSync,
  no: number,
  entered: readonly Column[],
): readonly Statement[] {
  const layout = readLayout(database, no)
  if (!layout) return []
  const numbers = new Set(entered.map((column) => column.no))
  const columns = layout.columns.map((each) => (numbers.has(each.no) ? { ...each, isFilled: true } : each))
  const plain = (text: string): Statement => ({ text, values: [] })
  return [
    ...rebuilding(database, no, { before: layout.columns, columns }).map(plain),
    { text: 'update smalt_collection set layout = ? where no = ?', values: [printLayout(columns), no] },
    { text: 'delete from smalt_fill where collection = ?', values: [no] },
    plain('update smalt_epoch set layouts = layouts + 1'),
  ]
}

interface Changed {
  readonly before: readonly Column[]
  readonly columns: readonly Column[]
}

/** Builds the indexes again that contain values of the columns. Indexes into arrays contain no columns. */
function rebuilding(database: DatabaseSync, no: number, { before, columns }: Changed): readonly string[] {
  const table = `doc_${no}`
  return [...readIndexes(database, no)].flatMap(([index, definition]) => {
    if (definition.kind === 'text' || goesIntoArray(definition)) return []
    const statements = createStatements(definition, { table, no: index, columns })
    const old = createStatements(definition, { table, no: index, columns: before })
    return statements.join() === old.join() ? [] : [...dropStatements(index), ...statements]
  })
}

/** Whether indexes have to be built again, which takes long. */
export function isLong(statements: readonly Statement[]): boolean {
  return statements.some(({ text }) => text.startsWith('create '))
}
