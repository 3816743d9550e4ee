/** Parses the parts of RE2 patterns that match one character: escapes, classes, and named classes. */
import type { PatternFlags } from '../../../base/pattern.ts'
import { type Cursor, Uncertain } from './pattern-cursor.ts'
import { type CharacterSet, type Range, closedUnderCase, complementOf, setOf } from './pattern-set.ts'

/** Parses a class in brackets; the opening bracket has been consumed. */
export function parseClass(cursor: Cursor, flags: PatternFlags): CharacterSet {
  const isNegated = cursor.take('^')
  const ranges: Range[] = []
  let isFirst = true
  while (isFirst || !cursor.isAt(']')) {
    isFirst = false
    ranges.push(
      ...(parseNamedClass(cursor, flags) ?? parseClassEscape(cursor, flags) ?? parseRange(cursor, flags)),
    )
  }
  cursor.take(']')
  return isNegated ? complementOf(setOf(ranges)) : setOf(ranges)
}

/** Parses `\d` and similar; undefined when there is none here. */
export function parseClassEscape(cursor: Cursor, flags: PatternFlags): CharacterSet | undefined {
  const letter = cursor.match(/^\\([dswDSW])/)?.[1]
  if (letter === undefined) return undefined
  return namedSet({ ranges: ESCAPES.get(letter.toLowerCase())!, isNegated: /[A-Z]/.test(letter) }, flags)
}

/** Parses an escape of one character. */
export function parseEscape(cursor: Cursor): number {
  const hex = cursor.match(/^\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})/)
  if (hex !== undefined) return Number.parseInt(hex[1] ?? hex[2]!, 16)
  const control = cursor.match(/^\\([afnrtv])/)?.[1]
  if (control !== undefined) return CONTROLS.get(control)!
  const punctuation = cursor.match(/^\\([!-/:-@[-`{-~ ])/)?.[1]
  if (punctuation !== undefined) return punctuation.codePointAt(0)!
  throw new Uncertain()
}

/** The set with case ignored. */
export function inAnyCase(set: CharacterSet): CharacterSet {
  const isPlain = process.versions.unicode === KNOWN_UNICODE || set.every(([, last]) => last <= LAST_SETTLED)
  if (!isPlain) throw new Uncertain()
  return closedUnderCase(set)
}

/** re2js has its own case tables; they agree with `foldCase` in this version of Unicode. */
const KNOWN_UNICODE = '17.0'

/** Alphabets up to here are complete: later versions of Unicode add no case variants to them. */
const LAST_SETTLED = 0x17f

const CONTROLS: ReadonlyMap<string, number> = new Map(
  Object.entries({ a: 0x7, f: 0xc, n: 0xa, r: 0xd, t: 0x9, v: 0xb }),
)

function parseRange(cursor: Cursor, { caseInsensitive }: PatternFlags): CharacterSet {
  const first = parseMember(cursor)
  const isRange = cursor.isAt('-') && !cursor.isAt('-]')
  if (isRange) cursor.skip(1)
  const last = isRange ? parseMember(cursor) : first
  if (last < first) throw new Uncertain()
  const set = setOf([[first, last]])
  return caseInsensitive ? inAnyCase(set) : set
}

function parseMember(cursor: Cursor): number {
  return cursor.isAt('\\') ? parseEscape(cursor) : cursor.next()
}

/** Parses `[:alpha:]` and similar; undefined when there is none here. */
function parseNamedClass(cursor: Cursor, flags: PatternFlags): CharacterSet | undefined {
  if (!cursor.isAt('[:')) return undefined
  const found = cursor.match(/^\[:(\^?)([a-z]+):\]/)
  const ranges = NAMED.get(found?.[2] ?? '')
  if (ranges === undefined) throw new Uncertain()
  return namedSet({ ranges, isNegated: found![1] === '^' }, flags)
}

interface NamedSet {
  readonly ranges: readonly Range[]
  readonly isNegated: boolean
}

function namedSet({ ranges, isNegated }: NamedSet, { caseInsensitive }: PatternFlags): CharacterSet {
  const set = caseInsensitive ? inAnyCase(setOf(ranges)) : setOf(ranges)
  return isNegated ? complementOf(set) : set
}

const DIGIT: Range = [0x30, 0x39]
const UPPER: Range = [0x41, 0x5a]
const LOWER: Range = [0x61, 0x7a]
const SPACE: Range = [0x20, 0x20]
const UNDERSCORE: Range = [0x5f, 0x5f]

/** ASCII only, as in RE2. */
const ESCAPES: ReadonlyMap<string, readonly Range[]> = new Map(
  Object.entries<readonly Range[]>({
    d: [DIGIT],
    s: [[0x9, 0xa], [0xc, 0xd], SPACE],
    w: [DIGIT, UPPER, LOWER, UNDERSCORE],
  }),
)

/** ASCII only; unlike `\s`, `space` includes the vertical tab. */
const NAMED: ReadonlyMap<string, readonly Range[]> = new Map(
  Object.entries<readonly Range[]>({
    alnum: [DIGIT, UPPER, LOWER],
    alpha: [UPPER, LOWER],
    ascii: [[0x0, 0x7f]],
    blank: [[0x9, 0x9], SPACE],
    cntrl: [
      [0x0, 0x1f],
      [0x7f, 0x7f],
    ],
    digit: [DIGIT],
    graph: [[0x21, 0x7e]],
    lower: [LOWER],
    print: [[0x20, 0x7e]],
    punct: [
      [0x21, 0x2f],
      [0x3a, 0x40],
      [0x5b, 0x60],
      [0x7b, 0x7e],
    ],
    space: [[0x9, 0xd], SPACE],
    upper: [UPPER],
    word: [DIGIT, UPPER, LOWER, UNDERSCORE],
    xdigit: [DIGIT, [0x41, 0x46], [0x61, 0x66]],
  }),
)
