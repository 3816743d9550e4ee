/** JSON from text that is known to be valid, or whose depth was checked, with every digit of its numbers. */
import type { Json, JsonNumber } from './json.ts'
import { hasEscapedKey, isPlainNumber } from './json-text.ts'
import { exactNumber, parseByHand } from './parse-by-hand.ts'

/** A number with exactly these digits; `text` must be a JSON number. */
export function numberFrom(text: string): JsonNumber {
  return isPlainNumber(text, 0, text.length) ? Number(text) : exactNumber(text)
}

/** Parses text that we printed, such as a stored document, keeping every digit. */
export function parseTrusted(text: string): Json {
  const isContainer = text.startsWith('{') || text.startsWith('[')
  return parseText(text, !isContainer || NEEDS_RAW.test(text))
}

/** Parses text that may be invalid, which is then a SyntaxError; keeps digits where a plain parse would change some. */
export function parseText(text: string, needsDigits: boolean): Json {
  return needsDigits || hasEscapedKey(text) ? parseByHand(text) : (JSON.parse(text) as Json)
}

/**
 * Finds the numbers that a plain parse would change: many digits, zeros at the end of a fraction, exponents, minus
 * zero. It may also match inside a string; then the slower parse runs for nothing and the answer is the same. Printed
 * text has no white space around its numbers, which makes this several times faster than looking for it. What is tried
 * again is never longer than the 15 digits that the first alternative leaves.
 */
const NEEDS_RAW = /[:,[](?:-?[\d.]{16}|-?\d+(?:[eE]|\.(?:\d*0[,\]}]|\d+[eE]))|-0[,\]}])/
