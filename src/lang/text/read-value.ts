/** Reads the parts of a condition: paths, values, lists of values, and patterns. */
import type { Json, JsonObject } from '../../base/json/json.ts'
import { endOfString } from '../../base/json/json-text.ts'
import { numberFrom } from '../../base/json/parse-trusted.ts'
import { spend } from '../../base/work/work.ts'
import { type Reader, expected, look, pass, refused, skipSpace, take, wordHere } from './filter-reader.ts'
import { SPECIAL_STEP, WORDS } from './words.ts'

/** `$` and a path: another field. */
export function readOtherField(reader: Reader): string | undefined {
  return take(reader, '$') ? readPath(reader, 'a field after "$"') : undefined
}

const VALUE = 'a value, such as "Bern", 42, true, null or now()'
export const VALUE_OR_FIELD = `${VALUE}, or "$" and another field`
export const LIST = '"(" and values'
export const LIST_OR_FIELD = `${LIST}, or "$" and another field`

export function readValues(reader: Reader, what: string): readonly Json[] {
  if (!take(reader, '(')) throw expected(reader, what)
  const values: Json[] = []
  if (take(reader, ')')) return values
  do {
    skipSpace(reader)
    values.push(readValue(reader, VALUE))
  } while (take(reader, ','))
  if (!take(reader, ')')) throw expected(reader, '"," or ")"')
  return values
}

/** Called at the first character of the value. */
export function readValue(reader: Reader, what: string): Json {
  const { text, at } = reader
  if (text[at] === '"') return readString(reader)
  const number = pass(reader, NUMBER)
  if (number !== undefined) return numberFrom(number)
  const word = wordHere(reader)
  if (word !== undefined && Object.hasOwn(CONSTANTS, word)) {
    reader.at += word.length
    return CONSTANTS[word]!
  }
  if (word !== 'now') throw expected(reader, text[at] === "'" ? 'a text in double quotes' : what)
  reader.at += word.length
  if (!take(reader, '(') || !take(reader, ')')) throw expected(reader, '"()" after "now"')
  return NOW
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const CONSTANTS: Readonly<Record<string, Json>> = { true: true, false: false, null: null }
const NOW: JsonObject = { $now: true }

export function readString(reader: Reader): string {
  const { text, at } = reader
  const end = endOfString(text, at + 1)
  spend(end - at)
  if (end === text.length) throw refused(reader, 'this text has no closing quote')
  reader.at = end + 1
  const value = stringOf(text.slice(at, end + 1))
  if (value !== undefined) return value
  const message = 'this is not a text in JSON; a backslash is written \\\\ and a line break \\n'
  throw refused({ ...reader, at }, message)
}

function stringOf(quoted: string): string | undefined {
  try {
    const value = JSON.parse(quoted) as string
    return value.includes('\0') || !value.isWellFormed() ? undefined : value
  } catch {
    return undefined
  }
}

interface ReadRegex {
  readonly query: JsonObject
  readonly offsets: Readonly<Record<string, number>>
}

export function readRegex(reader: Reader): ReadRegex {
  const regex = skipSpace(reader)
  const { text } = reader
  if (text[regex] !== '/') throw expected(reader, 'a pattern, such as /^B/ or /bern/i')
  const pieces: string[] = []
  let from = regex + 1
  let at = from
  for (; text[at] !== '/'; at++) {
    if (at >= text.length) throw refused(reader, 'this pattern has no closing "/"')
    if (text[at] !== '\\') continue
    if (text[at + 1] === '/') {
      pieces.push(text.slice(from, at))
      from = at + 1
    }
    at++
  }
  spend(at - regex)
  pieces.push(text.slice(from, at))
  reader.at = at + 1
  return { query: { regex: pieces.join(''), ...readFlags(reader) }, offsets: { regex, options: at + 1 } }
}

function readFlags(reader: Reader): JsonObject {
  const letters = look(reader, LETTERS) ?? ''
  if (/[^imxs]/.test(letters)) throw expected(reader, 'flags of the pattern, which are i, m, x and s')
  reader.at += letters.length
  return letters === '' ? {} : { options: letters }
}

const LETTERS = /[\p{L}\p{N}_]+/uy
const FIRST_OF_PATH = /[$`\p{L}_]/uy

export function readPath(reader: Reader, what: string): string {
  skipSpace(reader)
  const isStepLike = look(reader, FIRST_OF_PATH) !== undefined
  if (!isStepLike) throw expected(reader, what)
  const start = reader.at
  const steps = [readStep(reader, what)]
  while (take(reader, '.')) {
    skipSpace(reader)
    steps.push(readStep(reader, 'a name, "*" or an index after "."'))
  }
  spend(reader.at - start)
  return steps.join('.')
}

function readStep(reader: Reader, what: string): string {
  if (reader.text[reader.at] === '`') return readQuoted(reader)
  const special = pass(reader, SPECIAL_STEP)
  if (special !== undefined) return special
  const name = wordHere(reader)
  if (name === undefined) throw expected(reader, what)
  if (WORDS.has(name)) {
    throw expected(reader, what, `; a field of that name stands in backquotes: \`${name}\``)
  }
  reader.at += name.length
  return name
}

function readQuoted(reader: Reader): string {
  const { at } = reader
  const name = readBackquoted(reader)
  if (name !== '' && !name.includes('.')) return name
  throw refused(
    { ...reader, at },
    'a name in backquotes is one step of a path: it is not empty and has no "."',
  )
}

/** Two backquotes inside are one that belongs to the name. */
function readBackquoted(reader: Reader): string {
  const { text, at } = reader
  let end = text.indexOf('`', at + 1)
  while (end !== -1 && text[end + 1] === '`') end = text.indexOf('`', end + 2)
  if (end === -1) throw refused(reader, 'this name has no closing backquote')
  const name = text.slice(at + 1, end).replaceAll('``', '`')
  reader.at = end + 1
  return name
}

/** A plain word, any name in backquotes, or a text in JSON. */
export function readIndexName(reader: Reader): string {
  const { text } = reader
  const at = skipSpace(reader)
  if (text[at] === '"') return readString(reader)
  const name = text[at] === '`' ? readBackquoted(reader) : wordHere(reader)
  if (name === undefined || name === '') {
    throw expected({ text, at }, 'the name of an index, such as words, `by title` or "by title"')
  }
  if (name.includes('\0') || !name.isWellFormed()) throw refused({ text, at }, 'this is no name of an index')
  if (text[at] !== '`') reader.at += name.length
  return name
}
