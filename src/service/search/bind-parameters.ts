/**
 * Binds values to the placeholders of a saved search after its parts are parsed, so that a value can never
 * become syntax.
 */
import { type Code, ServiceError } from '../../base/errors.ts'
import { type Json, isArray, isNumber, isObject, numberText } from '../../base/json/json.ts'
import type { Limits } from '../../base/limits.ts'
import { parseJson } from '../../base/json/parse-json.ts'
import { spend, spendParsing } from '../../base/work/work.ts'
import { readFilter } from '../../lang/text/read-filter.ts'

export type Part = 'query' | 'projection' | 'sort'

/** Parameter → its value; a placeholder with another name is left unchanged. */
export type Values = ReadonlyMap<string, Json>

/**
 * A part may be stored as JSON text, in which placeholders may also stand outside quotes. The text of a query may also
 * be a filter, whose placeholders stand in its texts.
 */
export function readPart(stored: Json, part: Part, limits: Limits): Json {
  if (typeof stored !== 'string') return stored
  spendParsing(stored.length)
  if (part === 'query' && !JSON_TEXT.test(stored)) return readFilter(stored, limits).query
  try {
    return parseJson(withQuotes(stored), limits.nesting)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'crud:InvalidRequest') throw error
    throw new ServiceError(INVALID[part], `the ${part} of the saved search is text, but no valid JSON`)
  }
}

/**
 * A text that consists of one placeholder becomes the value; inside a longer text, the value is inserted as text. A search
 * may repeat a placeholder many times, so the texts together have at most `maxCharacters`.
 */
export function bind(value: Json, values: Values, maxCharacters: number): Json {
  return bindValue(value, values, { left: maxCharacters, max: maxCharacters, texts: new Map() })
}

interface Room {
  left: number
  readonly max: number
  /** Values as texts, by the name of their parameter: each is printed once. */
  readonly texts: Map<string, string>
}

function bindValue(value: Json, values: Values, room: Room): Json {
  spend(1)
  if (typeof value === 'string') return bindText(value, values, room)
  if (isArray(value)) return value.map((each) => bindValue(each, values, room))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, bindValue(each, values, room)]))
}

function take(room: Room, characters: number): void {
  spend(characters / CHARACTERS_PER_STEP)
  room.left -= characters
  if (room.left >= 0) return
  const message = `the saved search has more than ${room.max} characters with the values of its parameters`
  throw new ServiceError('crud:LimitExceeded', message)
}

const CHARACTERS_PER_STEP = 8

/** The beginning of a query as JSON text; no filter begins like that. */
const JSON_TEXT = /^\s*(?:$|["[{]|\$\{)/

const INVALID: Readonly<Record<Part, Code>> = {
  query: 'query-api:InvalidQuery',
  projection: 'query-api:InvalidProjection',
  sort: 'query-api:InvalidSort',
}

/** A JSON string, closed or not, or a placeholder between strings. */
const TOKEN = /"(?:[^"\\]|\\.)*"?|\$\{[^{}"]*\}/gs
const PLACEHOLDER = /\$\{([^{}]*)\}/g
const ONLY_PLACEHOLDER = /^\$\{([^{}]*)\}$/

function withQuotes(text: string): string {
  return text.replaceAll(TOKEN, (token) => (token.startsWith('"') ? token : JSON.stringify(token)))
}

function bindText(text: string, values: Values, room: Room): Json {
  take(room, text.length)
  const only = ONLY_PLACEHOLDER.exec(text)
  const insert = (name: string, value: Json): string => {
    const inserted = room.texts.get(name) ?? textOf(value)
    room.texts.set(name, inserted)
    take(room, inserted.length)
    return inserted
  }
  if (only) {
    const name = only[1]!.trim()
    const value = values.get(name)
    if (value === undefined) return text
    insert(name, value)
    return value
  }
  return text.replaceAll(PLACEHOLDER, (placeholder, name: string) => {
    const value = values.get(name.trim())
    return value === undefined ? placeholder : insert(name.trim(), value)
  })
}

function textOf(value: Json): string {
  if (typeof value === 'string') return value
  return isNumber(value) ? numberText(value) : JSON.stringify(value)
}
