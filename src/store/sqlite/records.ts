/** The records of tables and indexes that several modules read. */
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { IndexDefinition } from '../../schema/schema.ts'
import { memoizedParse } from '../../base/memo.ts'
import { type Column, MAX_PARSED_CHARACTERS } from '../layout/columns.ts'
import { parseLayout, printLayout } from './columns.ts'

/** The columns beside the text of a table's documents. */
export interface Layout {
  /** All that writes fill. */
  readonly columns: readonly Column[]
  /** Whether the table was made by a release without columns, and has got none yet. */
  readonly isEarlier: boolean
}

/** Whether no column has to be added or filled. */
export function isComplete({ columns, isEarlier }: Layout): boolean {
  return !isEarlier && columns.every(({ isFilled }) => isFilled)
}

export function layoutIn(text: unknown): Layout {
  return { columns: parseLayout(text as string | null), isEarlier: text === null }
}

/** Undefined if there is no such collection. */
export function readLayout(database: DatabaseSync, collection: number): Layout | undefined {
  const row = database.prepare('select layout from smalt_collection where no = ?').get(collection)
  return row && layoutIn(row['layout'])
}

export function putLayout(database: DatabaseSync, collection: number, columns: readonly Column[]): void {
  const put = database.prepare('update smalt_collection set layout = ? where no = ?')
  put.run(printLayout(columns), collection)
  noteChange(database)
}

/** By their numbers, in the order in which they were made. */
export type Indexes = ReadonlyMap<number, IndexDefinition>

export function readIndexes(database: DatabaseSync, collection: number): Indexes {
  const rows = database
    .prepare('select no, definition from smalt_index where collection = ? order by no')
    .all(collection)
  return indexesIn(rows)
}

/** Those of every collection that has any, by its number: one statement for all, however many there are. */
export function readAllIndexes(database: DatabaseSync): ReadonlyMap<number, Indexes> {
  const rows = database.prepare('select no, collection, definition from smalt_index order by no').all()
  const byCollection = Map.groupBy(rows, ({ collection }) => Number(collection))
  return new Map([...byCollection].map(([collection, own]) => [collection, indexesIn(own)]))
}

function indexesIn(rows: readonly Record<string, SQLOutputValue>[]): Indexes {
  return parseIndexes(`[${rows.map(({ no, definition }) => `[${String(no)},${String(definition)}]`).join()}]`)
}

/** As for layouts: nearly all of them are as they were when they were read before. */
const parseIndexes = memoizedParse(
  (text): Indexes => new Map(JSON.parse(text) as [number, IndexDefinition][]),
  MAX_PARSED_CHARACTERS,
)

/** A number that increases with every change of tables. */
export function readLayouts(database: DatabaseSync): number {
  return Number(database.prepare('select layouts from smalt_epoch').get()!['layouts'])
}

export function noteChange(database: DatabaseSync): void {
  database.exec('update smalt_epoch set layouts = layouts + 1')
}
