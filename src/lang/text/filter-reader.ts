/** The text of a filter that is being read: tokens, and errors that name the place, what was expected and what was found. */
import { ServiceError } from '../../base/errors.ts'
import type { Json } from '../../base/json/json.ts'
import { spend } from '../../base/work/work.ts'
import { positionOf } from './position.ts'
import { NAME, WORDS } from './words.ts'

export interface Reader {
  readonly text: string
  readonly nesting: number
  /** Where in the text each query begins, and where each of its members does. */
  readonly offsets: Map<Json, Offsets>
  at: number
  /** Open parentheses, and negations around the current condition. */
  depth: number
}

export interface Offsets {
  readonly start: number
  readonly members: Readonly<Record<string, number>>
}

/** Returns the offset of the next token. */
export function skipSpace(reader: Reader): number {
  spend(1)
  pass(reader, SPACE)
  return reader.at
}

const SPACE = /\s+/y

export function take(reader: Reader, token: string): boolean {
  skipSpace(reader)
  if (!reader.text.startsWith(token, reader.at)) return false
  reader.at += token.length
  return true
}

export function takeWord(reader: Reader, word: string): boolean {
  skipSpace(reader)
  if (wordHere(reader) !== word) return false
  reader.at += word.length
  return true
}

export function wordHere(reader: Reader): string | undefined {
  return look(reader, NAME)
}

/** What the pattern matches here. */
export function look({ text, at }: Place, pattern: RegExp): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

/** The same, and moves past it. */
export function pass(reader: Reader, pattern: RegExp): string | undefined {
  const found = look(reader, pattern)
  reader.at += found?.length ?? 0
  return found
}

type Place = Pick<Reader, 'text' | 'at'>

export function expected(reader: Place, what: string, hint = hintAt(reader)): ServiceError {
  return refused(reader, `expected ${what}, but found ${foundAt(reader)}${hint}`)
}

/** What is usual elsewhere, and how it is written here. */
function hintAt({ text, at }: Place): string {
  const word = look({ text, at }, NAME)
  const lower = word?.toLowerCase()
  if (lower !== undefined && lower !== word && WORDS.has(lower)) return `; it is written ${lower}`
  if (text[at] === '-') return '; a name with "-" stands in backquotes'
  return text.startsWith('==', at - 1) ? '; equality is written =' : ''
}

function foundAt({ text, at }: Place): string {
  if (at >= text.length) return 'the end'
  const found = look({ text, at }, NAME) ?? String.fromCodePoint(text.codePointAt(at)!)
  return JSON.stringify(found.length > MAX_SHOWN ? `${found.slice(0, MAX_SHOWN)}…` : found)
}

const MAX_SHOWN = 40

export function refused({ text, at }: Place, message: string): ServiceError {
  return new ServiceError('query-api:InvalidQuery', message, { at: positionOf(text, at) })
}
