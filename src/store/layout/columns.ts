/**
 * Which columns a table has beside the text of its documents. A column holds the simple values at one path, so
 * that conditions, sorts and indexes do not decode the text. What no column holds is read from the text, with
 * the same result.
 *
 * A column is added for every field of an index. Then, in the order in which they were defined and up to
 * `MAX_COLUMNS`, each simple field outside of arrays gets one, and, where the engine holds them, each member that
 * is or contains an array. Columns are never removed: fields that a later version drops or renames still have
 * values in stored documents.
 */
import { type Step, isIntoArray, parsePath } from '../../base/path.ts'
import type { WordSource } from '../../schema/document-words.ts'
import type { IndexDefinition } from '../../schema/schema.ts'
import { type ReadAs, readAsOf } from '../sql/read-as.ts'
import { indexedSource, parseSource } from './word-source.ts'

/**
 * The kind of values in a column. Versions may give one path types of different kinds; then each kind has a
 * column of its own, and a value of another kind is missing in it. `big` is a number in a form of its own, for an
 * engine whose numbers are limited. `whole` is a text that is not cut where it is long. `json` is a member of the
 * document that is or contains an array, with everything in it, in the form that the engine searches. `words` are the
 * words of the fields of an index for text search; its path is their source.
 */
export type ColumnKind = 'boolean' | 'number' | 'big' | 'text' | 'whole' | 'json' | 'words'

/** What the columns of an engine hold. */
export interface ColumnRules {
  /** Form of stored values → the kind of column that holds them. */
  readonly forms: ReadonlyMap<string, ColumnKind>
  /** The kind of column that has the values in the form in which they are read. */
  readonly readings: Readonly<Record<ReadAs, ColumnKind | undefined>>
  /** Whether the key of a row is the `_id` of any type, so that indexes use it; otherwise it is that of a text only. */
  readonly hasId: boolean
  /** Whether an index contains texts as they are; otherwise it contains no more of them than a column. */
  readonly indexesWholeTexts: boolean
  /** Whether a column holds the words of an index for text search; otherwise they are in a table of their own. */
  readonly holdsWords: boolean
}

export interface ColumnDefinition {
  readonly path: string
  readonly kind: ColumnKind
}

export interface Column extends ColumnDefinition {
  readonly no: number
  readonly name: string
  readonly steps: readonly Step[]
  /** Of a column of words. */
  readonly source?: WordSource
  /** False while documents that are older than the column are not entered: writes fill it, reads ignore it. */
  readonly isFilled: boolean
}

/**
 * The number of columns for fields without an index. A thousand documents with so many values, and the four
 * other columns of a row, are below the 65,535 parameters that one statement of PostgreSQL may have.
 */
export const MAX_COLUMNS = 60

/**
 * The number of characters (code points) of a text that its column holds for certain. A longer text is cut after
 * one character more, which tells it from a whole one, and is read from the document where all of it matters: it
 * is not stored twice.
 */
export const MAX_CHARACTERS = 128

interface Defined {
  /** The record of the collection: paths that documents may store, and `$form.path` for their forms. */
  readonly paths: readonly string[]
  readonly indexes: readonly IndexDefinition[]
}

export function columnsFor({ paths, indexes }: Defined, rules: ColumnRules): readonly ColumnDefinition[] {
  const ofWords = indexes.filter(({ kind }) => kind === 'text' && rules.holdsWords).map(wordColumn)
  const fields = indexes.filter(({ kind }) => kind === undefined).flatMap((index) => index.fields)
  const needed = fields.flatMap(({ path, type, isMixed }): readonly ColumnDefinition[] => {
    if (isIntoArray(path)) return memberOf(path, rules)
    const kind = rules.readings[readAsOf(type, isMixed)]
    if (kind === undefined || (rules.hasId && path === '_id')) return []
    return [{ path, kind: kind === 'text' && rules.indexesWholeTexts ? 'whole' : kind }]
  })
  const others = formsIn(paths)
    .flatMap((each) => columnOfForm(each, rules))
    .slice(0, MAX_COLUMNS)
  const all = new Map([...needed, ...ofWords].map((each) => [keyOf(each), each]))
  for (const each of others) if (!isAmong(all, each)) all.set(keyOf(each), each)
  return [...all.values()]
}

/** The definitions whose values are not among the columns. */
export function missingColumns(
  columns: readonly Column[],
  defined: Defined,
  rules: ColumnRules,
): readonly ColumnDefinition[] {
  const known = new Map(columns.map((each) => [keyOf(each), each]))
  return columnsFor(defined, rules).filter((each) => !isAmong(known, each))
}

/** A whole text is also the text. */
function isAmong(known: ReadonlyMap<string, unknown>, { path, kind }: ColumnDefinition): boolean {
  return known.has(keyOf({ path, kind })) || (kind === 'text' && known.has(keyOf({ path, kind: 'whole' })))
}

function wordColumn(index: IndexDefinition): ColumnDefinition {
  return { path: indexedSource(index), kind: 'words' }
}

interface StoredForm {
  readonly form: string
  readonly path: string
}

/** Integers and doubles of one path are read as exact decimals, as big numbers are. */
function formsIn(paths: readonly string[]): readonly StoredForm[] {
  const all = new Set(paths)
  return paths.flatMap((entry): readonly StoredForm[] => {
    const [, form, path] = /^\$([^.]+)\.(.+)$/s.exec(entry) ?? []
    if (form === undefined || path === undefined) return []
    return [{ form: form === 'integer' && all.has(`$double.${path}`) ? 'big' : form, path }]
  })
}

function columnOfForm({ form, path }: StoredForm, rules: ColumnRules): readonly ColumnDefinition[] {
  if (form === 'array') return memberOf(path, rules)
  const kind = rules.forms.get(form)
  return kind === undefined || isIntoArray(path) || isKey(path, kind, rules) ? [] : [{ path, kind }]
}

function isKey(path: string, kind: ColumnKind, { hasId }: ColumnRules): boolean {
  return path === '_id' && (hasId || kind === 'text')
}

/** The member of the document that a path begins with. */
function memberOf(path: string, { forms }: ColumnRules): readonly ColumnDefinition[] {
  const kind = forms.get('array')
  return kind === undefined ? [] : [{ path: path.split('.')[0]!, kind }]
}

/** The same text for definitions of the same column. */
export function keyOf({ path, kind }: ColumnDefinition): string {
  return `${kind}.${path}`
}

export function columnOf(
  definition: ColumnDefinition,
  { no, isFilled }: Pick<Column, 'no' | 'isFilled'>,
): Column {
  const { path, kind } = definition
  if (kind === 'words') {
    return { path, kind, no, name: `c${no}`, steps: [], source: parseSource(path), isFilled }
  }
  const steps = parsePath(path, '')
  return { path, kind, no, name: `c${no}`, steps, isFilled }
}

/** The columns as a store records them. */
export function printColumns(columns: readonly Column[]): readonly StoredColumn[] {
  return columns.map(({ no, path, kind, isFilled }) => ({ no, path, kind, isFilled }))
}

export function parseColumns(columns: readonly StoredColumn[]): readonly Column[] {
  return columns.map((each) => columnOf(each, each))
}

/** Of the texts of layouts that are not parsed again: those of some hundred collections. */
export const MAX_PARSED_CHARACTERS = 2_000_000

export type StoredColumn = Pick<Column, 'no' | 'path' | 'kind' | 'isFilled'>

/** Finds the column that holds the member of the document with this name. */
export function memberFinder(columns: readonly Column[]): (name: Step) => Column | undefined {
  const filled = columns.filter(({ kind, isFilled }) => kind === 'json' && isFilled)
  const members = new Map<Step, Column>(filled.map((each) => [each.path, each]))
  return (name) => members.get(name)
}

/** The column with the words of a source. */
export function wordColumnOf(columns: readonly Column[], source: string): Column | undefined {
  return columns.find((each) => each.kind === 'words' && each.isFilled && each.path === source)
}

/** Finds the column that holds the values at a path, read as a type. */
export function columnFinder(
  columns: readonly Column[],
  { readings }: ColumnRules,
): (steps: readonly Step[], type: ReadAs) => Column | undefined {
  const filled = new Map(columns.filter(({ isFilled }) => isFilled).map((each) => [keyOf(each), each]))
  return (steps, type) => {
    const kind = readings[type]
    if (kind === undefined) return undefined
    const path = steps.join('.')
    const whole = kind === 'text' ? filled.get(keyOf({ path, kind: 'whole' })) : undefined
    return whole ?? filled.get(keyOf({ path, kind }))
  }
}
