/** Translates RE2 patterns that PostgreSQL can evaluate with exactly the same matches for every text. */
import { type PatternFlags, withoutComments } from '../../../base/pattern.ts'
import { Uncertain } from './pattern-cursor.ts'
import { type CharacterSet, EVERYTHING, type Range, complementOf, foldedMembers } from './pattern-set.ts'
import { type Anchor, type PatternTree, type Times, parsePattern } from './pattern-tree.ts'
import { isCheap } from './pattern-cost.ts'

export interface PostgresPattern {
  /** For `~`, in a database with the encoding UTF-8, on text with the collation "C". */
  readonly pattern: string
  /** Whether the pattern applies to the folded text instead of the text itself. */
  readonly folded: boolean
}

/** The equivalent of an RE2 pattern in PostgreSQL; undefined when equivalence is not certain. */
export function postgresPattern(pattern: string, flags: PatternFlags): PostgresPattern | undefined {
  try {
    const tree = parsePattern(flags.extended ? withoutComments(pattern) : pattern, flags)
    if (!isCheap(tree)) return undefined
    const sets = setsOf(tree)
    // The original text can always be searched; folded text makes indexes usable and patterns shorter.
    const folded = sets.every(({ isInAnyCase }) => isInAnyCase) && sets.some(({ set }) => isLetter(set))
    return { pattern: printPattern(folded ? foldedTree(tree) : tree), folded }
  } catch (error) {
    if (error instanceof Uncertain) return undefined
    throw error
  }
}

type SetTree = Extract<PatternTree, { readonly kind: 'set' }>

function setsOf(tree: PatternTree): readonly SetTree[] {
  switch (tree.kind) {
    case 'set':
      return [tree]
    case 'anchor':
      return []
    case 'sequence':
      return tree.parts.flatMap(setsOf)
    case 'choice':
      return tree.branches.flatMap(setsOf)
    case 'repeat':
      return setsOf(tree.body)
  }
}

/** Whether the set consists of one letter in its cases. */
function isLetter(set: CharacterSet): boolean {
  return single(set) === undefined && single(foldedMembers(set)) !== undefined
}

function foldedTree(tree: PatternTree): PatternTree {
  switch (tree.kind) {
    case 'set':
      return { ...tree, set: foldedMembers(tree.set) }
    case 'anchor':
      return tree
    case 'sequence':
      return { ...tree, parts: tree.parts.map(foldedTree) }
    case 'choice':
      return { ...tree, branches: tree.branches.map(foldedTree) }
    case 'repeat':
      return { ...tree, body: foldedTree(tree.body) }
  }
}

/** `***:` marks the rest as a regular expression without further options; `(?w)` makes `^` and `$` match at lines. */
function printPattern(tree: PatternTree): string {
  const seesLines = hasLineAnchor(tree)
  return `***:${seesLines ? '(?w)' : ''}${print(tree, seesLines ? ANCHORS : ANCHORS_WITHOUT_LINES)}`
}

function hasLineAnchor(tree: PatternTree): boolean {
  switch (tree.kind) {
    case 'set':
      return false
    case 'anchor':
      return tree.at.endsWith('line')
    case 'sequence':
      return tree.parts.some(hasLineAnchor)
    case 'choice':
      return tree.branches.some(hasLineAnchor)
    case 'repeat':
      return hasLineAnchor(tree.body)
  }
}

const ANCHORS: Readonly<Record<Anchor, string>> = {
  'start of text': '\\A',
  'end of text': '\\Z',
  'start of line': '^',
  'end of line': '$',
}

const ANCHORS_WITHOUT_LINES = { ...ANCHORS, 'start of text': '^', 'end of text': '$' }

function print(tree: PatternTree, anchors: Readonly<Record<Anchor, string>>): string {
  switch (tree.kind) {
    case 'set':
      return printSet(tree.set)
    case 'anchor':
      return anchors[tree.at]
    case 'sequence':
      return tree.parts
        .map((part) => (part.kind === 'choice' ? group(part, anchors) : print(part, anchors)))
        .join('')
    case 'choice':
      return tree.branches.map((branch) => print(branch, anchors)).join('|')
    case 'repeat':
      return (
        (tree.body.kind === 'set' ? print(tree.body, anchors) : group(tree.body, anchors)) +
        printTimes(tree.times)
      )
  }
}

function group(tree: PatternTree, anchors: Readonly<Record<Anchor, string>>): string {
  return `(?:${print(tree, anchors)})`
}

/**
 * Always greedy: PostgreSQL applies the greediness of the first repetition to all. It does not affect whether
 * there is a match.
 */
function printTimes({ min, max }: Times): string {
  if (max === undefined) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`
  if (min === 0 && max === 1) return '?'
  return min === max ? `{${min}}` : `{${min},${max}}`
}

function printSet(set: CharacterSet): string {
  const character = single(set)
  if (character !== undefined) return printCharacter(character)
  const others = complementOf(set)
  if (others.length === 0) return '.'
  return others.length < set.length || set.at(-1)![1] === LAST
    ? `[^${printRanges(others)}]`
    : `[${printRanges(set)}]`
}

const LAST = EVERYTHING.at(-1)![1]

function single(set: CharacterSet): number | undefined {
  return set.length === 1 && set[0]![0] === set[0]![1] ? set[0]![0] : undefined
}

function printRanges(set: CharacterSet): string {
  return set.map(printRange).join('')
}

function printRange([first, last]: Range): string {
  if (first === last) return printCharacter(first)
  return `${printCharacter(first)}${last === first + 1 ? '' : '-'}${printCharacter(last)}`
}

/** Letters and digits literally; all others by code point, so that none has a special meaning. */
function printCharacter(point: number): string {
  const character = String.fromCodePoint(point)
  if (/[\p{L}\p{N}]/u.test(character)) return character
  const hex = point.toString(16)
  return point > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`
}
