/** Parses RE2 patterns into trees. Syntax whose meaning is not certain is rejected as `Uncertain`. */
import type { PatternFlags } from '../../../base/pattern.ts'
import { inAnyCase, parseClass, parseClassEscape, parseEscape } from './pattern-class.ts'
import { Cursor, Uncertain } from './pattern-cursor.ts'
import { type CharacterSet, EVERYTHING, complementOf, setOf } from './pattern-set.ts'

export type PatternTree =
  | { readonly kind: 'set'; readonly set: CharacterSet; readonly isInAnyCase: boolean }
  | { readonly kind: 'anchor'; readonly at: Anchor }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternTree[] }
  | { readonly kind: 'choice'; readonly branches: readonly PatternTree[] }
  | { readonly kind: 'repeat'; readonly body: PatternTree; readonly times: Times }

export type Anchor = 'start of text' | 'end of text' | 'start of line' | 'end of line'

export interface Times {
  readonly min: number
  /** Absent when unbounded. */
  readonly max: number | undefined
}

/** Parses a pattern without white space and comments; throws `Uncertain`. */
export function parsePattern(pattern: string, flags: PatternFlags): PatternTree {
  const parser: Parser = { cursor: new Cursor(pattern), flags, depth: 0 }
  const tree = parseChoice(parser)
  if (!parser.cursor.isAtEnd()) throw new Uncertain()
  return tree
}

interface Parser {
  readonly cursor: Cursor
  /** The flags at the current position; groups may change them. */
  flags: PatternFlags
  depth: number
}

const MAX_DEPTH = 50

function parseChoice(parser: Parser): PatternTree {
  const branches = [parseSequence(parser)]
  while (parser.cursor.take('|')) branches.push(parseSequence(parser))
  return branches.length === 1 ? branches[0]! : { kind: 'choice', branches }
}

function parseSequence(parser: Parser): PatternTree {
  const { cursor } = parser
  const parts: PatternTree[] = []
  while (!cursor.isAtEnd() && !cursor.isAt('|') && !cursor.isAt(')')) {
    const atoms = parseAtoms(parser)
    const times = parseTimes(cursor)
    const last = atoms.at(-1)
    if (times === undefined) parts.push(...atoms)
    else if (last === undefined) throw new Uncertain()
    else parts.push(...atoms.slice(0, -1), { kind: 'repeat', body: last, times })
  }
  return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts }
}

/** Mostly one atom; a quotation has many, a group of flags none. */
function parseAtoms(parser: Parser): readonly PatternTree[] {
  const { cursor, flags } = parser
  if (cursor.take('(')) return parseGroup(parser)
  if (cursor.take('[')) return [oneOf(parseClass(cursor, flags), flags)]
  if (cursor.take('.')) return [oneOf(flags.dotall ? EVERYTHING : NOT_NEWLINE, flags)]
  if (cursor.take('^')) return [anchor(flags.multiline ? 'start of line' : 'start of text')]
  if (cursor.take('$')) return [anchor(flags.multiline ? 'end of line' : 'end of text')]
  if (cursor.take('\\A')) return [anchor('start of text')]
  if (cursor.take('\\z')) return [anchor('end of text')]
  if (cursor.take('\\Q')) return parseQuotation(parser)
  if (cursor.isAt('\\')) {
    const set = parseClassEscape(cursor, flags)
    return [set === undefined ? literal(parseEscape(cursor), flags) : oneOf(set, flags)]
  }
  if (parseTimes(cursor) !== undefined) throw new Uncertain()
  return [literal(cursor.next(), flags)]
}

const NOT_NEWLINE = complementOf(setOf([[0xa, 0xa]]))

function anchor(at: Anchor): PatternTree {
  return { kind: 'anchor', at }
}

function literal(point: number, flags: PatternFlags): PatternTree {
  const set = setOf([[point, point]])
  return oneOf(flags.caseInsensitive ? inAnyCase(set) : set, flags)
}

function oneOf(set: CharacterSet, { caseInsensitive }: PatternFlags): PatternTree {
  // No text matches an empty set, and PostgreSQL has no syntax for it.
  if (set.length === 0) throw new Uncertain()
  return { kind: 'set', set, isInAnyCase: caseInsensitive }
}

function parseQuotation({ cursor, flags }: Parser): readonly PatternTree[] {
  const quoted = cursor.rest().split('\\E', 1)[0]!
  // The operand of a repetition after an empty quotation is not certain.
  if (quoted === '') throw new Uncertain()
  cursor.skip(quoted.length)
  cursor.take('\\E')
  return Array.from(quoted, (character) => literal(character.codePointAt(0)!, flags))
}

function parseGroup(parser: Parser): readonly PatternTree[] {
  const { cursor, flags } = parser
  const named = cursor.match(/^\?P?<[A-Za-z0-9_]+>/)
  if (named === undefined && cursor.isAt('?')) {
    const [, on, , off, end] = cursor.match(/^\?([imsU]*)(-([imsU]+))?([:)])/) ?? refuse()
    parser.flags = withFlags(withFlags(flags, on, true), off, false)
    if (end === ')') {
      // A repetition would apply to the atom before the flags.
      if (parseTimes(cursor) !== undefined || (on === '' && off === undefined)) throw new Uncertain()
      return []
    }
  }
  if (++parser.depth > MAX_DEPTH) throw new Uncertain()
  const body = parseChoice(parser)
  if (!cursor.take(')')) throw new Uncertain()
  parser.depth--
  parser.flags = flags
  return [body]
}

function refuse(): never {
  throw new Uncertain()
}

/** Greediness (`U`) affects where a match ends, never whether there is one. */
function withFlags(flags: PatternFlags, letters: string | undefined, isOn: boolean): PatternFlags {
  return {
    ...flags,
    ...(letters?.includes('i') && { caseInsensitive: isOn }),
    ...(letters?.includes('m') && { multiline: isOn }),
    ...(letters?.includes('s') && { dotall: isOn }),
  }
}

/** Text that is not a valid repetition, such as `{,5}`, is literal. */
function parseTimes(cursor: Cursor): Times | undefined {
  const found = cursor.match(/^(?:[*+?]|\{(0|[1-9]\d*)(,(0|[1-9]\d*)?)?\})\??/)
  if (found === undefined) return undefined
  if (/^[*+?{]/.test(cursor.rest())) throw new Uncertain()
  const [sign, min, comma, max] = found
  if (min !== undefined) {
    return {
      min: Number(min),
      max: comma === undefined ? Number(min) : max === undefined ? undefined : Number(max),
    }
  }
  return { min: sign.startsWith('+') ? 1 : 0, max: sign.startsWith('?') ? 1 : undefined }
}
