/** The values of a document's columns. */
import { type Json, type JsonObject, member } from '../../base/json/json.ts'
import type { Step } from '../../base/path.ts'
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

function valueAt(document: JsonObject, steps: readonly Step[]): Json | undefined {
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
