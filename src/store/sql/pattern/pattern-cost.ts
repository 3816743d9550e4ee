/** Which patterns PostgreSQL compiles and searches as readily as RE2 does. */
import type { PatternTree, Times } from './pattern-tree.ts'

/**
 * Whether the tree stays small when repetitions are written out, as PostgreSQL does, and asks for nothing that its
 * compiler is slow at or refuses: repeated anchors, many anchors after each other, and unbounded repetitions of what
 * may be empty.
 */
export function isCheap(tree: PatternTree): boolean {
  const { size, anchors } = weigh(tree)
  return size <= MAX_SIZE && anchors <= MAX_ANCHORS
}

const MAX_SIZE = 500
/** The time to compile doubles with each. */
const MAX_ANCHORS = 8
/** PostgreSQL's own bound. */
const MAX_TIMES = 255
const MAX_UNBOUNDED_NESTING = 2
/** So many ranges of a class cost as much as one more state. */
const RANGES_PER_STATE = 10
/** What may be empty is linked with all that follows: once, or each time that it is repeated. */
const EXTRA_WHEN_EMPTY = 2
const FACTOR_WHEN_EMPTY = 3

interface Weight {
  /** Infinite for what is not to be asked for at all. */
  readonly size: number
  readonly mayBeEmpty: boolean
  /** How many stand after each other at most. */
  readonly anchors: number
  /** How many unbounded repetitions stand within each other. */
  readonly nesting: number
}

const ONE: Weight = { size: 1, mayBeEmpty: false, anchors: 0, nesting: 0 }

function weigh(tree: PatternTree): Weight {
  switch (tree.kind) {
    case 'set':
      return { ...ONE, size: 1 + Math.floor(tree.set.length / RANGES_PER_STATE) }
    case 'anchor':
      return { ...ONE, mayBeEmpty: true, anchors: 1 }
    case 'sequence':
      return weighSequence(tree.parts.map(weigh))
    case 'choice':
      return weighChoice(tree.branches.map(weigh))
    case 'repeat':
      return weighRepetition(weigh(tree.body), tree.times)
  }
}

function weighSequence(parts: readonly Weight[]): Weight {
  return {
    size: parts.reduce((sum, part) => sum + part.size + (part.mayBeEmpty ? EXTRA_WHEN_EMPTY : 0), 1),
    mayBeEmpty: parts.every(({ mayBeEmpty }) => mayBeEmpty),
    anchors: parts.reduce((sum, { anchors }) => sum + anchors, 0),
    nesting: Math.max(0, ...parts.map(({ nesting }) => nesting)),
  }
}

function weighChoice(branches: readonly Weight[]): Weight {
  return {
    size: branches.reduce((sum, { size }) => sum + size, 1),
    mayBeEmpty: branches.some(({ mayBeEmpty }) => mayBeEmpty),
    anchors: Math.max(...branches.map(({ anchors }) => anchors)),
    nesting: Math.max(...branches.map(({ nesting }) => nesting)),
  }
}

function weighRepetition(body: Weight, { min, max }: Times): Weight {
  const nesting = body.nesting + (max === undefined ? 1 : 0)
  const size = body.mayBeEmpty ? body.size * FACTOR_WHEN_EMPTY : body.size
  const isRefused =
    body.anchors > 0 ||
    Math.max(min, max ?? 0) > MAX_TIMES ||
    (max !== undefined && max < min) ||
    (max === undefined && body.mayBeEmpty) ||
    nesting > MAX_UNBOUNDED_NESTING
  return {
    size: isRefused ? Infinity : size * Math.max(1, max ?? min + 1) + 1,
    mayBeEmpty: min === 0 || body.mayBeEmpty,
    anchors: body.anchors,
    nesting,
  }
}
