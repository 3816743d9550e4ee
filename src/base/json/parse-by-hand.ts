/**
 * A JSON parser of our own, in one pass, for two kinds of text that `JSON.parse` does not serve. Numbers that
 * JavaScript would change become raw numbers here: `JSON.parse` passes their digits only to a reviver, which takes
 * several times as long. And V8 (as of Node 26.10) caches keys that end in an escaped backslash wrongly, and then
 * returns wrong keys for other texts of other callers, so texts with escapes inside keys are parsed here as well.
 */
import type { Json, JsonNumber } from './json.ts'
import {
  BACKSLASH,
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
  skipSpace,
} from './json-text.ts'

/** Invalid text is a SyntaxError with its position. It recurses, so the caller bounds the depth. */
export function parseByHand(text: string): Json {
  const rawNumber = rawNumbers()
  let at = 0

  function value(): Json {
    at = skipSpace(text, at)
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) return string()
    if (unit === OPEN_BRACE) return object()
    if (unit === OPEN_BRACKET) return array()
    if (unit === MINUS || isDigit(unit)) return number()
    return word()
  }

  function object(): Json {
    const members: Record<string, Json> = {}
    at = skipSpace(text, at + 1)
    if (text.charCodeAt(at) === CLOSE_BRACE) {
      at++
      return members
    }
    for (;;) {
      if (text.charCodeAt(at) !== QUOTE) throw unexpected(at)
      const key = string()
      at = skipSpace(text, at)
      if (text.charCodeAt(at++) !== COLON) throw unexpected(at - 1)
      const child = value()
      if (key === '__proto__') Object.defineProperty(members, key, { ...ORDINARY, value: child })
      else members[key] = child
      if (isLast(CLOSE_BRACE)) return members
      at = skipSpace(text, at)
    }
  }

  function array(): Json {
    const elements: Json[] = []
    at = skipSpace(text, at + 1)
    if (text.charCodeAt(at) === CLOSE_BRACKET) {
      at++
      return elements
    }
    do elements.push(value())
    while (!isLast(CLOSE_BRACKET))
    return elements
  }

  /** Steps over the comma or the bracket behind a value. */
  function isLast(bracket: number): boolean {
    at = skipSpace(text, at)
    const unit = text.charCodeAt(at++)
    if (unit !== COMMA && unit !== bracket) throw unexpected(at - 1)
    return unit === bracket
  }

  /** The engine reads longer ones: a slice of the text would keep all of it in memory. A string alone is not a key. */
  function string(): string {
    const start = at + 1
    let end = start
    for (const last = start + MAX_COPIED; end < last; end++) {
      const unit = text.charCodeAt(end)
      if (unit === QUOTE) {
        at = end + 1
        return text.slice(start, end)
      }
      if (unit === BACKSLASH || !(unit >= 0x20)) break
    }
    end = endOfString(text, end)
    const literal = text.slice(start - 1, end + 1)
    try {
      const content = JSON.parse(literal) as string
      at = end + 1
      return content
    } catch {
      throw unexpected(start - 1)
    }
  }

  function number(): JsonNumber {
    const start = at
    at = endOfNumber(text, start)
    if (isPlainNumber(text, start, at)) return Number(text.slice(start, at))
    return rawNumber(text, start, at) ?? fail(start)
  }

  function word(): Json {
    for (const [name, meaning] of WORDS) {
      if (!text.startsWith(name, at)) continue
      at += name.length
      return meaning
    }
    throw unexpected(at)
  }

  const result = value()
  at = skipSpace(text, at)
  if (at < text.length) throw unexpected(at)
  return result
}

function unexpected(at: number): SyntaxError {
  return new SyntaxError(`unexpected text at position ${at}`)
}

function fail(at: number): never {
  throw unexpected(at)
}

/**
 * Reads numbers that may have to be raw ones; undefined where the text is not a number. To make a raw number takes long,
 * and the same ones come again and again (prices, versions), so a few hundred of the last ones are kept to be shared.
 */
function rawNumbers(): (text: string, start: number, end: number) => JsonNumber | undefined {
  const last: (string | undefined)[] = []
  const made: JsonNumber[] = []
  return (text, start, end) => {
    const slot = slotOf(text, start, end)
    const known = last[slot]
    if (known?.length === end - start && text.startsWith(known, start)) return made[slot]!
    const digits = text.slice(start, end)
    if (!NUMBER.test(digits)) return undefined
    const number = exactNumber(digits)
    last[slot] = digits
    made[slot] = number
    return number
  }
}

function slotOf(text: string, start: number, end: number): number {
  let hash = 0
  for (let i = Math.max(start, end - 12); i < end; i++) hash = (hash * 31 + text.charCodeAt(i)) | 0
  return hash & 0x1ff
}

/** A number with exactly these digits; `digits` must be a JSON number. */
export function exactNumber(digits: string): JsonNumber {
  if (digits.length > LONGEST_PRINTED) return JSON.rawJSON(digits)
  const value = Number(digits)
  return String(value) === digits ? value : JSON.rawJSON(digits)
}

/** No number of JavaScript prints longer than this. */
const LONGEST_PRINTED = 25

/** The engine copies slices up to this length, and gives a view of the whole text for longer ones. */
const MAX_COPIED = 12

const ORDINARY = { configurable: true, enumerable: true, writable: true }
const WORDS: readonly (readonly [name: string, meaning: Json])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
]
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
