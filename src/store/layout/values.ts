/** The values of a document's columns. */
import { type Json, type JsonObject, member } from '../../base/json/json.ts'
import type { Path } from '../../base/path.ts'
import { documentWords } from '../../schema/document-words.ts'
import { type Kind, isOfKind } from '../../schema/kind.ts'
import { type Column, type ColumnKind, MAX_CHARACTERS } from './columns.ts'

/** The value for a column, a text cut where it is long. */
export function valueOfColumn(document: JsonObject, column: Column): Json {
  const value = wholeValueOf(document, column)
  return column.kind === 'text' && typeof value === 'string' ? cut(value) : value
}

/** Null where there is no value, or one of another kind. */
export function wholeValueOf(document: JsonObject, { kind, steps, source }: Column): Json {
  if (source) return documentWords(document, source) || null
  const value = valueAt(document, steps)
  if (value === undefined || value === null) return null
  if (kind === 'json' || kind === 'words') return value
  return isOfKind(value, KINDS[kind]) ? value : null
}

const KINDS: Readonly<Record<Exclude<ColumnKind, 'json' | 'words'>, Kind>> = {
  boolean: 'boolean',
  number: 'number',
  big: 'number',
  text: 'text',
  whole: 'text',
}

/**
 * The columns that a change of a document has to write. A value that is the same in both documents is in its column already,
 * unless the column is not filled yet. Changes of many columns write all of them, so that there are few different statements.
 */
export function columnsToWrite(columns: readonly Column[], changes: readonly Changed[]): readonly Column[] {
  const written = columns.filter(
    (column) => !column.isFilled || changes.some((each) => !isUnchanged(column, each)),
  )
  return written.length > MAX_WRITTEN ? columns : written
}

/** A document before and after a change; `before` is absent if it is not known. */
export interface Changed {
  readonly before?: JsonObject | undefined
  readonly after: JsonObject
}

const MAX_WRITTEN = 4

function isUnchanged({ steps, source }: Column, change: Changed): boolean {
  return source ? areSameMembers(source.fields, change) : isSame(steps, change)
}

/** Whether a change leaves the members of the document alone in which these paths begin, so that nothing below them differs. */
export function areSameMembers(paths: readonly Path[], change: Changed): boolean {
  return paths.every((path) => isSame(path.slice(0, 1), change))
}

function isSame(path: Path, { before, after }: Changed): boolean {
  return before !== undefined && valueAt(before, path) === valueAt(after, path)
}

function valueAt(document: JsonObject, steps: Path): Json | undefined {
  let value: Json | undefined = document
  for (const step of steps) value = member(value, String(step))
  return value
}

/** One character more than a whole text may have shows that the text is longer. */
function cut(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text
  const beginning = text.slice(0, 2 * (MAX_CHARACTERS + 1))
  // Without characters of two code units, which take a slow walk, a unit is a character.
  if (!SURROGATE.test(beginning)) return beginning.slice(0, MAX_CHARACTERS + 1)
  return Array.from(beginning)
    .slice(0, MAX_CHARACTERS + 1)
    .join('')
}

const SURROGATE = /[\uD800-\uDFFF]/
