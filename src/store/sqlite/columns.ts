/** The columns of a layout in SQLite: what they hold, and how statements read and write them. */
import { orderKey } from '../../base/decimal.ts'
import { type JsonNumber, type JsonObject, isNumber, numberText } from '../../base/json/json.ts'
import { memoized, memoizedParse } from '../../base/memo.ts'
import { type Step, parsePath } from '../../base/path.ts'
import type { IndexDefinition } from '../../schema/schema.ts'
import {
  type Column,
  type ColumnRules,
  MAX_CHARACTERS,
  MAX_PARSED_CHARACTERS,
  columnFinder,
  parseColumns,
  printColumns,
} from '../layout/columns.ts'
import { wholeValueOf } from '../layout/values.ts'
import type { Base } from '../sql/dialect.ts'
import { type SqlValue, raw, sql } from '../sql/fragment.ts'
import { type ReadAs, readAsOf } from '../sql/read-as.ts'
import { SQLITE, documentOf } from '../sql/sqlite-dialect.ts'

/**
 * A number of the types `integer` and `double` is a number of SQLite; any other is the text that sorts as it does. Arrays
 * are read from the text. Values of the other types are never compared, only tested for presence.
 */
export const RULES: ColumnRules = {
  forms: new Map([
    ['boolean', 'boolean'],
    ['number', 'number'],
    ['big', 'big'],
    ['text', 'text'],
  ]),
  readings: {
    boolean: 'boolean',
    onlyBoolean: 'boolean',
    integer: 'number',
    double: 'number',
    biginteger: 'big',
    bigdecimal: 'big',
    onlyNumber: 'big',
    string: 'text',
    uid: 'text',
    date: 'text',
    onlyText: 'text',
    binary: undefined,
    any: undefined,
  },
  hasId: true,
  // An index that reads the document would change with every change of the document.
  indexesWholeTexts: true,
  holdsWords: false,
}

/** The columns as stored in the catalogue; null for a table of a release without columns. */
export function parseLayout(text: string | null): readonly Column[] {
  return text === null ? [] : parseText(text)
}

/** After each change of metadata all layouts are read, and nearly all of them are as before. */
const parseText = memoizedParse(
  (text) => parseColumns(JSON.parse(text) as readonly Column[]),
  MAX_PARSED_CHARACTERS,
)

export function printLayout(columns: readonly Column[]): string {
  return JSON.stringify(printColumns(columns))
}

/** The document of a row, as conditions read it: from its columns, and from the text what they do not hold. */
export function documentIn(columns: readonly Column[], qualifier = ''): Base {
  const document = documentOf(qualifier)
  if (columns.length === 0) return document
  const find = finderIn(columns)
  return {
    ...document,
    column(steps, type) {
      const column = find(steps, type)
      if (!column) return undefined
      const value = raw(`${qualifier}${column.name}`)
      if (column.kind !== 'text') return value
      return sql`(case ${value} when ${raw(String(LONG))} then ${SQLITE.read(document, steps, type)} else ${value} end)`
    },
  }
}

const finderIn = memoized((columns: readonly Column[]) => columnFinder(columns, RULES))

/** Whether a filled column holds the values at a path, read as a type. */
export function isHeld(columns: readonly Column[], steps: readonly Step[], type: ReadAs): boolean {
  return columns.length > 0 && finderIn(columns)(steps, type) !== undefined
}

/**
 * Stands for a text that is too long to be stored twice. Values of the column are texts, which are never equal to a
 * number, because the column has no type.
 */
const LONG = 1n

/** The values of a document's columns, in the form in which SQLite would read them from its text. */
export function columnValues(document: JsonObject, columns: readonly Column[]): readonly SqlValue[] {
  return columns.map((column) => {
    const value = wholeValueOf(document, column)
    if (value === null) return null
    if (typeof value === 'boolean') return value ? 1n : 0n
    if (isNumber(value)) return column.kind === 'big' ? orderKey(numberText(value)) : nativeNumber(value)
    return column.kind === 'text' && (value as string).length > MAX_CHARACTERS ? LONG : (value as string)
  })
}

/** A whole number in range is an integer; the driver would bind a number of JavaScript as a double. */
function nativeNumber(value: JsonNumber): number | bigint {
  if (Number.isSafeInteger(value)) return BigInt(value as number)
  const text = numberText(value)
  const integer = /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined
  return integer !== undefined && BigInt.asIntN(64, integer) === integer ? integer : Number(text)
}

/** `, c1, c2` for the list of columns of a statement. */
export function columnList(columns: readonly Column[]): string {
  return columns.map(({ name }) => `, ${name}`).join('')
}

/** Its parameters are key, version, text, and the values of the columns. */
export function insertStatement({
  name,
  columns,
}: {
  readonly name: string
  readonly columns: readonly Column[]
}) {
  return `insert into ${name}(id, version, doc${columnList(columns)}) values (?, ?, ?${', ?'.repeat(columns.length)})`
}

/** `, c1 = ?, c2 = ?` for an update. */
export function columnChanges(columns: readonly Column[]): string {
  return columns.map(({ name }) => `, ${name} = ?`).join('')
}

/** The columns that plain indexes contain. */
export function indexedColumns(
  columns: readonly Column[],
  indexes: Iterable<IndexDefinition>,
): ReadonlySet<Column> {
  const find = finderIn(columns)
  const fields = [...indexes].flatMap(({ fields: each }) => each)
  return new Set(
    fields.flatMap(({ path, type, isMixed }) => find(parsePath(path, ''), readAsOf(type, isMixed)) ?? []),
  )
}
