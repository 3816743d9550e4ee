/**
 * A JSON parser of our own for the few texts the engine cannot be trusted with: V8's `JSON.parse` (as of Node 26.10)
 * remembers keys that end in an escaped backslash wrongly, and then gives other texts, of other callers, the wrong
 * keys. Texts without escapes inside keys, which is nearly all of them, never come here.
 */
import type { Json } from './json.ts'

/** Whether a key, and not only values, holds an escape. */
export function hasEscapedKey(text: string): boolean {
  return text.includes('\\') && ESCAPED_KEY.test(text)
}

/** Parses sound or unsound text, giving each number to `toNumber`; unsound text is a SyntaxError with its position. */
export function parseByHand(text: string, toNumber: (digits: string) => Json): Json {
  let at = 0

  function token(pattern: RegExp): string {
    SPACE.lastIndex = at
    at += SPACE.exec(text)![0].length
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (!found) throw new SyntaxError(`unexpected text at position ${at}`)
    at += found[0].length
    return found[0]
  }

  function value(): Json {
    const start = token(VALUE)
    if (start === '{') return object()
    if (start === '[') return array()
    if (start.startsWith('"')) return stringOf(start)
    return Object.hasOwn(WORDS, start) ? WORDS[start]! : toNumber(start)
  }

  function object(): Json {
    const entries: [string, Json][] = []
    for (let next = token(KEY_OR_END); next !== '}';) {
      token(COLON)
      entries.push([stringOf(next), value()])
      next = token(COMMA_OR_BRACE) === ',' ? token(KEY) : '}'
    }
    // Defines the members one by one, so `__proto__` becomes a member like any other.
    return Object.fromEntries(entries)
  }

  function array(): Json {
    const elements: Json[] = []
    SPACE.lastIndex = at
    at += SPACE.exec(text)![0].length
    if (text[at] === ']') {
      at++
      return elements
    }
    do elements.push(value())
    while (token(COMMA_OR_BRACKET) === ',')
    return elements
  }

  const result = value()
  token(END)
  return result
}

/** A string alone is no key, so the engine reads it well. */
function stringOf(literal: string): string {
  return JSON.parse(literal) as string
}

const WORDS: Readonly<Record<string, Json>> = { true: true, false: false, null: null }

const STRING = String.raw`"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"`
const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`
const SPACE = /[ \t\n\r]*/y
const VALUE = new RegExp(`[{[]|${STRING}|${NUMBER}|true|false|null`, 'y')
const KEY = new RegExp(STRING, 'y')
const KEY_OR_END = new RegExp(`}|${STRING}`, 'y')
const COLON = /:/y
const COMMA_OR_BRACE = /[,}]/y
const COMMA_OR_BRACKET = /[,\]]/y
const END = /$/y
const ESCAPED_KEY = /\\(?:[^"\\]|\\.)*"\s*:/s
