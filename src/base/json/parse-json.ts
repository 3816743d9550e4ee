/**
 * Parses untrusted JSON. Refuses input that `JSON.parse` accepts but a document must not contain, so that no other
 * module has to check for it.
 */
import { ServiceError, invalidRequest } from '../errors.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  endOfNumber,
  endOfString,
  isDigit,
  isPlainNumber,
} from './json-text.ts'
import { type Json, isArray, isObject, pointer } from './json.ts'
import { parseText } from './parse-trusted.ts'
import { parseByHand } from './parse-by-hand.ts'

/** Refuses malformed text, deep nesting, duplicate keys, `__proto__`, NUL and lone surrogates; keeps all digits. */
export function parseJson(text: string, maxDepth: number): Json {
  const { keys, needsDigits } = scan(text, maxDepth)
  const value = parse(text, needsDigits)
  const mayHideCharacters = text.includes('\\u')
  if (mayHideCharacters || text.includes('__proto__')) refuseBadText(value)
  if (countMembers(value) !== keys)
    throw invalidRequest('the same key appears twice in one object', duplicateKey(text))
  return value
}

function parse(text: string, needsDigits: boolean): Json {
  try {
    return parseText(text, needsDigits)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw invalidRequest(`${NOT_VALID} ${positionOf(error.message, text)}${reasonOf(text)}`)
  }
}

const NOT_VALID = 'the body is not valid JSON'

/** The message of a refusal, about a JSON text that is not a body. */
export function aboutText({ message }: Error, what: string): string {
  if (message.startsWith(NOT_VALID)) return message.replace('the body', what)
  return `${what} is not valid JSON: ${message.replace('the body', 'it')}`
}

/** V8's message quotes the body, so it only selects one of ours. */
function reasonOf(text: string): string {
  const message = engineMessage(text)
  const reason = REASONS.find(([beginning]) => message.startsWith(beginning))?.[1]
  return reason === undefined ? '' : `: ${reason}`
}

const REASONS: readonly (readonly [beginning: string, reason: string])[] = [
  ['Expected property name', 'expected a name in double quotes'],
  ['Expected double-quoted property name', 'expected a name in double quotes'],
  ["Expected ':'", 'expected a colon'],
  ["Expected ',' or '}'", 'expected a comma or a closing brace'],
  ["Expected ',' or ']'", 'expected a comma or a closing bracket'],
  ['Unexpected end', 'it ends too early'],
  ['Unterminated string', 'a text has no closing quote'],
  ['Bad control character', 'a text contains a line break or another character that must be escaped'],
  ['Bad escaped character', 'a text contains an escape that JSON does not have'],
  ['Bad Unicode escape', 'a text contains an escape that JSON does not have'],
  ['Unexpected non-whitespace', 'something follows the value'],
  ['Unexpected number', 'a number must not begin with 0'],
  ['Unexpected token', 'expected a value'],
]

function engineMessage(text: string): string {
  try {
    JSON.parse(text)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

/** V8's message quotes the body, so only its position is repeated; without one, our own parser finds the position. */
function positionOf(message: string, text: string): string {
  const position = /at position \d+(?: \(line \d+ column \d+\))?/
  return position.exec(message)?.[0] ?? position.exec(parserMessage(text))?.[0] ?? 'at its end'
}

function parserMessage(text: string): string {
  try {
    parseByHand(text)
    return ''
  } catch (error) {
    return String(error)
  }
}

interface Scan {
  readonly keys: number
  /** Whether `JSON.parse` would change the digits of some number. */
  readonly needsDigits: boolean
}

/** Counts keys, limits the depth and checks the numbers in one pass that skips strings. */
function scan(text: string, maxDepth: number): Scan {
  let keys = 0
  let depth = 0
  let needsDigits = false
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === QUOTE) i = endOfString(text, i + 1)
    else if (unit === COLON) keys++
    else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      if (++depth > maxDepth) {
        throw new ServiceError('crud:LimitExceeded', `the body nests deeper than ${maxDepth} levels`)
      }
    } else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) depth--
    else if (unit === MINUS || isDigit(unit)) {
      const end = endOfNumber(text, i)
      needsDigits ||= !isPlainNumber(text, i, end)
      i = end - 1
    }
  }
  return { keys, needsDigits }
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

function refuseBadText(value: Json): void {
  const found = badTextIn(value)
  if (found) throw invalidRequest(found.problem, found.steps.reduceRight<string>(pointer, ''))
}

interface BadText {
  readonly problem: string
  /** Steps of its JSON pointer, innermost first. */
  readonly steps: (string | number)[]
}

/** Collects the steps of the pointer on the way back: building a pointer for each value takes longer than the check. */
function badTextIn(value: Json): BadText | undefined {
  if (typeof value === 'string') return badCharacters(value)
  if (isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = badTextIn(value[i]!)
      if (found) return addStep(i, found)
    }
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      if (key === '__proto__') return { problem: '"__proto__" is not allowed as a key', steps: [] }
      const found = badCharacters(key)
      if (found) return found
      const inside = badTextIn(value[key]!)
      if (inside) return addStep(key, inside)
    }
  }
  return undefined
}

function addStep(step: string | number, found: BadText): BadText {
  found.steps.push(step)
  return found
}

function badCharacters(text: string): BadText | undefined {
  if (text.includes('\0')) return { problem: 'NUL characters are not allowed', steps: [] }
  return text.isWellFormed() ? undefined : { problem: 'lone surrogates are not allowed', steps: [] }
}

interface OpenContainer {
  /** Absent until the first key. */
  keys?: Set<string>
  /** Key or index of the current value. */
  step: string | number
}

/** The pointer to the first duplicate key. Slower than `scan`, because it tracks the keys of every open object. */
function duplicateKey(text: string): string {
  const open: OpenContainer[] = []
  let key = ''
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    const top = open.at(-1)
    if (unit === QUOTE) {
      const end = endOfString(text, i + 1)
      if (typeof top?.step === 'string') key = JSON.parse(text.slice(i, end + 1)) as string
      i = end
    } else if (unit === OPEN_BRACE) open.push({ step: '' })
    else if (unit === OPEN_BRACKET) open.push({ step: 0 })
    else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) open.pop()
    else if (unit === COMMA && typeof top?.step === 'number') top.step++
    else if (unit === COLON && top) {
      top.step = key
      if (top.keys?.has(key)) return open.map(({ step }) => step).reduce<string>(pointer, '')
      ;(top.keys ??= new Set()).add(key)
    }
  }
  return ''
}
