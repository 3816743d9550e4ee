/** Declared indexes as PostgreSQL's: the expressions that are indexed, and the statements that create them. */
import { orderKey } from '../../../base/decimal.ts'
import { type Json, isNumber, numberText } from '../../../base/json/json.ts'
import { parsePath } from '../../../base/path.ts'
import type { IndexDefinition, IndexField } from '../../../schema/schema.ts'
import { MAX_ID_BYTES } from '../../../schema/id.ts'
import type { Base, Form } from '../../sql/dialect.ts'
import { type Fragment, join, literal, raw, render, sql } from '../../sql/fragment.ts'
import { POSTGRES } from '../../sql/postgres-dialect.ts'
import { type Reading, readingOf } from '../../sql/reading.ts'

/** The columns of a row that statements use: its key and its document. */
export interface Columns {
  readonly id: string
  readonly document: Base
}

/** The qualifier names the table, where a statement reads several. */
export function columnsOf(qualifier: string): Columns {
  return { id: `${qualifier}id`, document: { json: raw(`${qualifier}body`), present: raw('true') } }
}

/** Unqualified, as in the definition of an index. */
const DOCUMENT: Base = columnsOf('').document

/** The key of a row: texts as they are, numbers as text that sorts in the order of the numbers. */
export function idKey(id: Json): string {
  if (isNumber(id)) return orderKey(numberText(id))!
  return typeof id === 'string' ? id : JSON.stringify(id)
}

export function isText(type: Reading): boolean {
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

export function textIndexOf(field: IndexField, { fields }: IndexDefinition): TextIndex {
  const plain = fields.filter(({ path }) => !isIntoArray(path))
  const texts = plain.filter(({ type }) => isText(type)).length
  const numbers = plain.filter(({ type }) => type === 'bigdecimal' || type === 'biginteger').length
  const left = INDEX_BYTES - MAX_ID_BYTES - numbers * BIG_NUMBER_BYTES
  const length = Math.max(1, Math.floor(left / texts / CHARACTER_BYTES))
  const beginning = beginningOf(length)
  const form: Form = field.caseInsensitive ? (text) => beginning(POSTGRES.fold(text)) : beginning
  const steps = parsePath(field.path, '')
  const reading = readingOf(field.type, field.isMixed)
  return { expression: (document) => form(POSTGRES.read(document, steps, reading)), form, length }
}

const beginnings = new Map<number, Form>()

/** Cached: the same form for the same length. */
function beginningOf(length: number): Form {
  const known = beginnings.get(length)
  if (known) return known
  const form: Form = (text) => sql`left(${text}, ${raw(String(length))})`
  beginnings.set(length, form)
  return form
}

export function isIntoArray(path: string): boolean {
  return parsePath(path, '').includes('*')
}

/** All values at a path into arrays, as one JSON array whose elements a GIN index contains. */
export function elementsAt(path: string, document: Base): Fragment {
  const steps = parsePath(path, '').map((step) => (step === '*' ? '[*]' : `.${JSON.stringify(step)}`))
  return sql`jsonb_path_query_array(${document.json}, ${literal(`$${steps.join('')}`)})`
}

/** The engine's limit. Conditions on further fields are evaluated on the documents. */
const MAX_COLUMNS = 32

/** The statements that create the index. Uniqueness is enforced by claims, not here. */
export function indexStatements(
  definition: IndexDefinition,
  {
    table,
    name,
    concurrently,
  }: { readonly table: string; readonly name: string; readonly concurrently: boolean },
): readonly string[] {
  const create = raw(concurrently ? 'create index concurrently if not exists' : 'create index if not exists')
  const plain = definition.fields.filter(({ path }) => !isIntoArray(path))
  const elements = definition.fields.filter(
    ({ path, caseInsensitive }) => isIntoArray(path) && !caseInsensitive,
  )
  const statements: Fragment[] = []
  if (plain.length > 0) {
    const keys = plain.map(
      (field) => sql`${indexed(field, definition)} ${POSTGRES.direction(field.descending)}`,
    )
    // The last column is id, which orders ties, so that the index also provides the order of a page.
    const columns = [...keys, raw('id')].slice(0, MAX_COLUMNS)
    statements.push(sql`${create} ${raw(name)} on ${raw(table)}(${join(columns, ', ')})`)
  }
  if (elements.length > 0) {
    const keys = elements
      .slice(0, MAX_COLUMNS)
      .map(({ path }) => sql`${elementsAt(path, DOCUMENT)} jsonb_path_ops`)
    statements.push(
      sql`${create} ${raw(`${name}_elements`)} on ${raw(table)} using gin (${join(keys, ', ')})`,
    )
  }
  return statements.map((statement) => render(statement, POSTGRES.placeholder).text)
}

export function dropStatements(name: string): readonly string[] {
  return [`drop index if exists ${name}`, `drop index if exists ${name}_elements`]
}

function indexed(field: IndexField, definition: IndexDefinition): Fragment {
  if (isText(field.type)) return sql`(${textIndexOf(field, definition).expression(DOCUMENT)})`
  const { path, type, isMixed } = field
  return sql`(${POSTGRES.read(DOCUMENT, parsePath(path, ''), readingOf(type, isMixed))})`
}
