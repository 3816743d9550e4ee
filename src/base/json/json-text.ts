/** Navigation in JSON text without parsing it. Every function takes at most one pass over the text. */

/** Offset of the quote that ends the string around `from`; the length of the text when there is none. */
export function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

/** Linear over the whole text: each run of backslashes precedes at most one quote, so it is counted once. */
function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}

/** Whether some key contains an escape; escapes in values do not count. */
export function hasEscapedKey(text: string): boolean {
  let at = text.indexOf('\\')
  while (at !== -1) {
    const after = skipSpace(text, endOfString(text, at) + 1)
    if (text.charCodeAt(after) === COLON) return true
    at = text.indexOf('\\', after)
  }
  return false
}

export function skipSpace(text: string, from: number): number {
  let at = from
  for (let unit = text.charCodeAt(at); isSpace(unit); unit = text.charCodeAt(at)) at++
  return at
}

function isSpace(unit: number): boolean {
  return unit === SPACE || unit === LINE_FEED || unit === RETURN || unit === TAB
}

/** Offset after the last character that may belong to the number. */
export function endOfNumber(text: string, start: number): number {
  let end = start + 1
  while (isNumberUnit(text.charCodeAt(end))) end++
  return end
}

function isNumberUnit(unit: number): boolean {
  return isDigit(unit) || unit === POINT || unit === 0x65 || unit === 0x45 || unit === PLUS || unit === MINUS
}

export function isDigit(unit: number): boolean {
  return unit >= ZERO && unit <= NINE
}

/**
 * Whether JavaScript surely prints the number as it is written here. Up to 15 digits survive. A zero at the end of a
 * fraction, minus zero and an exponent do not, and a fraction that starts with six zeros is printed with an exponent.
 */
export function isPlainNumber(text: string, start: number, end: number): boolean {
  if (end - start > 15) return false
  const first = text.charCodeAt(start) === MINUS ? start + 1 : start
  let point = 0
  for (let i = first; i < end; i++) {
    const unit = text.charCodeAt(i)
    if (unit === POINT && point === 0) point = i
    else if (!isDigit(unit)) return false
  }
  const startsWithZero = text.charCodeAt(first) === ZERO
  if (point === 0) return first < end && (!startsWithZero || end - start === 1)
  if (point === first || point === end - 1 || text.charCodeAt(end - 1) === ZERO) return false
  return !startsWithZero || (point === first + 1 && !text.startsWith('000000', point + 1))
}

export const QUOTE = 0x22
export const BACKSLASH = 0x5c
export const OPEN_BRACE = 0x7b
export const CLOSE_BRACE = 0x7d
export const OPEN_BRACKET = 0x5b
export const CLOSE_BRACKET = 0x5d
export const COLON = 0x3a
export const COMMA = 0x2c
export const MINUS = 0x2d
const PLUS = 0x2b
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const SPACE = 0x20
const TAB = 0x09
const LINE_FEED = 0x0a
const RETURN = 0x0d
