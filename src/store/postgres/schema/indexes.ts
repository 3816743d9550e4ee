/** Declared indexes as PostgreSQL's: the expressions that are indexed, and the statements that create them. */
import { orderKey } from '../../../base/decimal.ts'
import { type Json, isNumber, numberText } from '../../../base/json/json.ts'
import { isIntoArray, parsePath } from '../../../base/path.ts'
import type { IndexDefinition, IndexField } from '../../../schema/schema.ts'
import { MAX_ID_BYTES } from '../../../schema/id.ts'
import type { Base, Form } from '../../sql/dialect.ts'
import { type Fragment, join, literal, raw, render, sql } from '../../sql/fragment.ts'
import { POSTGRES, placeOf } from '../../sql/postgres-dialect.ts'
import { type ReadAs, readAsOf } from '../../sql/read-as.ts'
import { MAX_CHARACTERS, wordColumnOf } from '../../layout/columns.ts'
import { indexedSource } from '../../layout/word-source.ts'
import { type Layout, documentIn } from './columns.ts'
import { indexedWords } from './word-search.ts'

/** The columns of a row that statements use: its key and its document. */
export interface Columns {
  readonly id: string
  readonly document: Base
}

/** The qualifier names the table, where a statement reads several. */
export function columnsOf(layout: Layout, qualifier = ''): Columns {
  return { id: `${qualifier}id`, document: documentIn(layout, qualifier) }
}

/** The key of a row: texts as they are, numbers as text that sorts in the order of the numbers. */
export function idKey(id: Json): string {
  if (isNumber(id)) return orderKey(numberText(id))!
  return typeof id === 'string' ? id : JSON.stringify(id)
}

export function isText(type: ReadAs): boolean {
  return type === 'string' || type === 'uid' || type === 'onlyText'
}

/**
 * The engine rejects index rows larger than a third of a page, so only the beginning of a text is indexed:
 * the space beside `_id` and numbers of maximum length, in characters of up to four bytes.
 */
const INDEX_BYTES = 2_600
const BIG_NUMBER_BYTES = 1_030
const CHARACTER_BYTES = 4

/** A text index: the indexed expression, and how many characters of the text it contains. */
export interface TextIndex {
  readonly expression: (document: Base) => Fragment
  /** Maps a text to its indexed part. */
  readonly form: Form
  readonly length: number
}

/** An index over a column contains at most what the column holds of every text. */
export function textIndexOf(field: IndexField, { fields }: IndexDefinition, { hasBody }: Layout): TextIndex {
  const plain = fields.filter(({ path }) => !isIntoArray(path))
  const texts = plain.filter(({ type }) => isText(type)).length
  const numbers = plain.filter(({ type }) => type === 'bigdecimal' || type === 'biginteger').length
  const left = INDEX_BYTES - MAX_ID_BYTES - numbers * BIG_NUMBER_BYTES
  const most = hasBody ? Infinity : MAX_CHARACTERS + 1
  const length = Math.min(most, Math.max(1, Math.floor(left / texts / CHARACTER_BYTES)))
  const beginning = beginningOf(length)
  const form: Form = field.caseInsensitive ? (text) => beginning(POSTGRES.fold(cutOf(text))) : beginning
  const steps = parsePath(field.path, '')
  const reading = readAsOf(field.type, field.isMixed)
  return { expression: (document) => form(POSTGRES.read(document, steps, reading)), form, length }
}

const beginnings = new Map<number, Form>()

/** Cached: the same form for the same length. */
function beginningOf(length: number): Form {
  const known = beginnings.get(length)
  if (known) return known
  const form: Form = (text) => {
    const cut = text.beginning
    if (cut && cut.length + 1 === length) return cut.text
    return sql`left(${cutOf(text)}, ${raw(String(length))})`
  }
  beginnings.set(length, form)
  return form
}

/**
 * The column of a text instead of the text: indexes of tables with columns contain no more than that, and folding
 * maps one character to one.
 */
function cutOf(text: Fragment): Fragment {
  return text.beginning?.text ?? text
}

/** All values at a path into arrays, as one JSON array whose elements a GIN index contains. */
export function elementsAt(path: string, document: Base): Fragment {
  const place = placeOf(document, parsePath(path, ''))
  const steps = place.steps.map((step) => (step === '*' ? '[*]' : `.${JSON.stringify(step)}`))
  return sql`jsonb_path_query_array(${place.json}, ${literal(`$${steps.join('')}`)})`
}

/** The engine's limit. Conditions on further fields are evaluated on the documents. */
const MAX_COLUMNS = 32

/** The statements that create the index. Uniqueness is enforced by claims, not here. */
export function indexStatements(
  definition: IndexDefinition,
  {
    table,
    name,
    layout,
    concurrently,
  }: {
    readonly table: string
    readonly name: string
    readonly layout: Layout
    readonly concurrently: boolean
  },
): readonly string[] {
  const { document } = columnsOf(layout)
  const create = `create index ${concurrently ? 'concurrently ' : ''}if not exists`
  if (definition.kind === 'text') return [wordIndexStatement(definition, { table, name, layout, create })]
  const plain = definition.fields.filter(({ path }) => !isIntoArray(path))
  const elements = definition.fields.filter(
    ({ path, caseInsensitive }) => isIntoArray(path) && !caseInsensitive,
  )
  const statements: Fragment[] = []
  if (plain.length > 0) {
    const keys = plain.map(
      (field) =>
        sql`${indexed(field, definition, { layout, document })} ${POSTGRES.direction(field.descending)}`,
    )
    // The last column is id, which orders ties, so that the index also provides the order of a page.
    const columns = [...keys, raw('id')].slice(0, MAX_COLUMNS)
    statements.push(sql`${raw(create)} ${raw(name)} on ${raw(table)}(${join(columns, ', ')})`)
  }
  if (elements.length > 0) {
    const keys = elements
      .slice(0, MAX_COLUMNS)
      .map(({ path }) => sql`${elementsAt(path, document)} jsonb_path_ops`)
    statements.push(
      sql`${raw(create)} ${raw(`${name}_elements`)} on ${raw(table)} using gin (${join(keys, ', ')})`,
    )
  }
  return statements.map((statement) => render(statement, POSTGRES.placeholder).text)
}

function wordIndexStatement(
  definition: IndexDefinition,
  { table, name, layout, create }: Readonly<Record<'table' | 'name' | 'create', string>> & { layout: Layout },
): string {
  const columns = layout.columns.map((each) => ({ ...each, isFilled: true }))
  const column = wordColumnOf(columns, indexedSource(definition))!
  return `${create} ${name} on ${table} using gin (${indexedWords(column.name)})`
}

/** `isRebuilt`: the index that was built again stays. */
export function dropStatements(name: string, { isRebuilt = false } = {}): readonly string[] {
  return [name, ...(isRebuilt ? [] : [rebuiltName(name)])].flatMap((each) => [
    `drop index if exists ${each}`,
    `drop index if exists ${each}_elements`,
  ])
}

/** The name of an index that is built again on columns, beside the one that it replaces. */
export function rebuiltName(name: string): string {
  return `${name}_c`
}

function indexed(
  field: IndexField,
  definition: IndexDefinition,
  { layout, document }: { readonly layout: Layout; readonly document: Base },
): Fragment {
  if (isText(field.type)) return sql`(${textIndexOf(field, definition, layout).expression(document)})`
  const { path, type, isMixed } = field
  return sql`(${POSTGRES.read(document, parsePath(path, ''), readAsOf(type, isMixed))})`
}
