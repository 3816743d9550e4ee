/** The columns of a layout in PostgreSQL: their types, how statements read and write them, and how they are added. */
import { type JsonObject, isNumber, numberText } from '../../../base/json/json.ts'
import { memoized, memoizedParse } from '../../../base/memo.ts'
import {
  type Column,
  type ColumnKind,
  type ColumnRules,
  MAX_CHARACTERS,
  MAX_PARSED_CHARACTERS,
  type StoredColumn,
  columnFinder,
  memberFinder,
  parseColumns,
  printColumns,
} from '../../layout/columns.ts'
import { type Changed, columnsToWrite, valueOfColumn } from '../../layout/values.ts'
import type { Base } from '../../sql/dialect.ts'
import { type Fragment, join, param, raw, sql } from '../../sql/fragment.ts'
import { POSTGRES, arrayText } from '../../sql/postgres-dialect.ts'
import { scoreIn, searchIn } from './word-search.ts'

export interface Layout {
  /**
   * Whether the table was made by a release that stored each document a second time, in the column `body`. Until
   * its columns are filled and its indexes are built on them, that column answers.
   */
  readonly hasBody: boolean
  /** All columns that writes fill. */
  readonly columns: readonly Column[]
}

/** The layout of a table that no release with columns has seen yet. */
export const EARLIER: Layout = { hasBody: true, columns: [] }

/** Whether queries can use all columns. */
export function isComplete({ hasBody, columns }: Layout): boolean {
  return !hasBody && columns.every(({ isFilled }) => isFilled)
}

/** Values of the other types are never compared, only tested for presence. */
export const RULES: ColumnRules = {
  forms: new Map([
    ['boolean', 'boolean'],
    ['number', 'number'],
    ['big', 'number'],
    ['text', 'text'],
    ['array', 'json'],
  ]),
  readings: {
    boolean: 'boolean',
    onlyBoolean: 'boolean',
    integer: 'number',
    double: 'number',
    biginteger: 'number',
    bigdecimal: 'number',
    onlyNumber: 'number',
    string: 'text',
    uid: 'text',
    date: 'text',
    onlyText: 'text',
    binary: undefined,
    any: undefined,
  },
  hasId: false,
  indexesWholeTexts: false,
  holdsWords: true,
}

/** Numbers are `numeric`, which keeps every digit; text is ordered by code point. */
export const TYPES: Readonly<Record<ColumnKind, string>> = {
  boolean: 'integer',
  number: 'numeric',
  big: 'numeric',
  text: 'text collate "C"',
  whole: 'text collate "C"',
  json: 'jsonb',
  words: 'text collate "C"',
}

const LIST_TYPES: Readonly<Record<ColumnKind, string>> = {
  boolean: 'integer[]',
  number: 'numeric[]',
  big: 'numeric[]',
  text: 'text[]',
  whole: 'text[]',
  json: 'jsonb[]',
  words: 'text[]',
}

/** The layout as stored in the catalogue. */
export function printLayout({ hasBody, columns }: Layout): string {
  return JSON.stringify({ hasBody, columns: printColumns(columns) })
}

export function parseLayout(text: string | null): Layout {
  return text === null ? EARLIER : parseText(text)
}

/** After each change of metadata all layouts are read, and nearly all of them are as before. */
const parseText = memoizedParse((text): Layout => {
  const { hasBody, columns } = JSON.parse(text) as Layout & { readonly columns: readonly StoredColumn[] }
  return { hasBody, columns: parseColumns(columns) }
}, MAX_PARSED_CHARACTERS)

export function columnDefinition({ name, kind }: Column): string {
  return `${name} ${TYPES[kind]}`
}

export function addingStatement(table: string, columns: readonly Column[]): string {
  const added = columns.map((each) => `add column ${columnDefinition(each)}`)
  return `alter table ${table} ${added.join(', ')}`
}

/** The document of a row, as conditions read it: from its columns, and from the text what they do not hold. */
export function documentIn({ hasBody, columns }: Layout, qualifier: string): Base {
  const json = hasBody ? `${qualifier}body` : `(${qualifier}doc::jsonb)`
  const document: Base = { json: raw(json), present: raw('true') }
  const search: Base['search'] = (query) => searchIn(query, columns, qualifier)
  const score: Base['score'] = (query) => scoreIn(query, columns, qualifier)
  if (hasBody) return { ...document, search, score }
  const find = finderIn(columns)
  const findMember = memberFinderIn(columns)
  return {
    ...document,
    member([name, ...steps]) {
      const column = name === undefined ? undefined : findMember(name)
      return column && { json: raw(`${qualifier}${column.name}`), steps }
    },
    column(steps, type) {
      const column = find(steps, type)
      if (!column) return undefined
      const value = raw(`${qualifier}${column.name}`)
      // All dates have the same length, so that they are never cut.
      if (column.kind !== 'text' || type === 'date') return value
      const isCut = sql`char_length(${value}) > ${raw(String(MAX_CHARACTERS))}`
      const whole = sql`(case when ${isCut} then ${POSTGRES.read(document, steps, type)} else ${value} end)`
      return { ...whole, beginning: { text: value, length: MAX_CHARACTERS } }
    },
    search,
    score,
  }
}

const finderIn = memoized((columns: readonly Column[]) => columnFinder(columns, RULES))
const memberFinderIn = memoized(memberFinder)

/** The names of the columns from which `documentIn` reads. */
export function columnNames({ hasBody, columns }: Layout): readonly string[] {
  if (hasBody) return ['body']
  return ['doc', ...columns.filter(({ isFilled }) => isFilled).map(({ name }) => name)]
}

/** The values of a document's columns, in the order of the layout, as text. */
export function columnTexts(document: JsonObject, { columns }: Layout): readonly (string | null)[] {
  return columns.map((column) => {
    const value = valueOfColumn(document, column)
    if (value === null) return null
    if (column.kind === 'json') return JSON.stringify(value)
    if (typeof value === 'boolean') return value ? '1' : '0'
    return isNumber(value) ? numberText(value) : (value as string)
  })
}

/** The layout with those columns only that these changes write. */
export function layoutToWrite(layout: Layout, changes: readonly Changed[]): Layout {
  return { ...layout, columns: columnsToWrite(layout.columns, changes) }
}

/** `, c1, c2` for the list of columns of an insert. */
export function columnList(layout: Layout): Fragment {
  return raw(columnListText(layout))
}

export function columnListText({ columns }: Layout): string {
  return columns.map(({ name }) => `, ${name}`).join('')
}

/** The values of one row, each after a comma. */
export function columnValues(texts: readonly (string | null)[]): Fragment {
  return join([raw(''), ...texts.map(param)], ', ')
}

/** `, c1 = …` for the columns of an update. */
export function columnChanges(texts: readonly (string | null)[], { columns }: Layout): Fragment {
  const changes = columns.map(({ name }, i) => sql`${raw(name)} = ${param(texts[i]!)}`)
  return join([raw(''), ...changes], ', ')
}

/** The values of many rows: one list for each column. */
export function columnLists(
  rows: readonly (readonly (string | null)[])[],
  { columns }: Layout,
): readonly Fragment[] {
  return columns.map(
    ({ kind }, i) => sql`${param(arrayText(rows.map((row) => row[i]!)))}::${raw(LIST_TYPES[kind])}`,
  )
}
