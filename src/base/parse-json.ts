/**
 * Reads JSON that came from outside: what `JSON.parse` lets pass but a document must not hold is refused here, once,
 * before anything else looks at the request.
 */
import { ServiceError } from './errors.ts'
import { parseByHand } from './parse-by-hand.ts'
import { type Json, isArray, isObject, parseText, pointer } from './json.ts'

/** Refuses malformed text, deep nesting, duplicate keys, `__proto__`, NUL and lone surrogates; keeps all digits. */
export function parseJson(text: string, maxDepth: number): Json {
  const { keys, needsDigits } = scan(text, maxDepth)
  const value = parse(text, needsDigits)
  const mayHideCharacters = text.includes('\\u')
  if (mayHideCharacters || text.includes('__proto__')) refuseBadText(value, '')
  if (countMembers(value) !== keys)
    throw invalid('the same key stands twice in one object', duplicateKey(text))
  return value
}

function parse(text: string, needsDigits: boolean): Json {
  try {
    return parseText(text, needsDigits)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw invalid(`the body is not valid JSON ${placeOf(error.message, text)}`)
  }
}

/** The engine's message quotes the body; only the position is ours to repeat, and where it gives none we look. */
function placeOf(message: string, text: string): string {
  const position = /at position \d+(?: \(line \d+ column \d+\))?/
  return position.exec(message)?.[0] ?? position.exec(failureOf(text))?.[0] ?? 'at its end'
}

function failureOf(text: string): string {
  try {
    parseByHand(text, () => null)
    return ''
  } catch (error) {
    return String(error)
  }
}

interface Scan {
  readonly keys: number
  /** Whether some number would come out of a plain parse changed. */
  readonly needsDigits: boolean
}

/** One pass over the text, skipping strings: counts the keys, measures the depth, looks at the numbers. */
function scan(text: string, maxDepth: number): Scan {
  let keys = 0
  let depth = 0
  let needsDigits = false
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === QUOTE) i = endOfString(text, i)
    else if (unit === COLON) keys++
    else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      if (++depth > maxDepth) {
        throw new ServiceError('crud:LimitExceeded', `the body nests deeper than ${maxDepth} levels`)
      }
    } else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) depth--
    else if (unit === MINUS || (unit >= ZERO && unit <= NINE)) {
      const end = endOfNumber(text, i)
      needsDigits ||= !isPlainNumber(text, i, end)
      i = end - 1
    }
  }
  return { keys, needsDigits }
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1
  while (end < text.length && NUMBER_UNITS.includes(text[end]!)) end++
  return end
}

/** Short integers without a leading minus zero are what a plain parse gives back; anything else is looked at again. */
function isPlainNumber(text: string, start: number, end: number): boolean {
  if (end - start > 15) return false
  const number = text.slice(start, end)
  return String(Number(number)) === number
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}

function countMembers(value: Json): number {
  if (isArray(value)) {
    let count = 0
    for (const each of value) if (typeof each === 'object') count += countMembers(each)
    return count
  }
  if (!isObject(value)) return 0
  let count = 0
  for (const key in value) {
    count++
    const child = value[key]!
    if (typeof child === 'object') count += countMembers(child)
  }
  return count
}

function refuseBadText(value: Json, at: string): void {
  if (typeof value === 'string') refuseBadCharacters(value, at)
  else if (isArray(value)) value.forEach((each, i) => refuseBadText(each, pointer(at, i)))
  else if (isObject(value)) {
    for (const [key, child] of Object.entries(value)) {
      refuseBadCharacters(key, at)
      if (key === '__proto__') throw invalid('"__proto__" is not allowed as a key', at)
      refuseBadText(child, pointer(at, key))
    }
  }
}

function refuseBadCharacters(text: string, at: string): void {
  if (text.includes('\0')) throw invalid('NUL characters are not allowed', at)
  if (!text.isWellFormed()) throw invalid('lone surrogates are not allowed', at)
}

/** Only reached to explain a refusal, so it may be slow: replays the text with the keys of every open object. */
function duplicateKey(text: string): string {
  const open: { keys: Set<string>; step: string | number }[] = []
  const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g
  let key = ''
  for (let token = tokens.exec(text); token; token = tokens.exec(text)) {
    const top = open.at(-1)
    if (token[0] === '{' || token[0] === '[') open.push({ keys: new Set(), step: token[0] === '[' ? 0 : '' })
    else if (token[0] === '}' || token[0] === ']') open.pop()
    else if (token[0] === ',' && typeof top?.step === 'number') top.step++
    else if (token[0] === ':' && top) {
      top.step = key
      if (top.keys.has(key)) return open.map((each) => each.step).reduce<string>(pointer, '')
      top.keys.add(key)
    } else if (token[0].startsWith('"')) key = JSON.parse(token[0]) as string
  }
  return ''
}

function invalid(message: string, at?: string): ServiceError {
  return new ServiceError('crud:InvalidRequest', message, at === undefined ? {} : { at })
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const COLON = 0x3a
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const NUMBER_UNITS = '0123456789.eE+-'
