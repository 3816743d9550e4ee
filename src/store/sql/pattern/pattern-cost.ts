/** Estimates the cost of a pattern in PostgreSQL, so that only patterns are pushed down that are as cheap as in RE2. */
import type { PatternTree, Times } from './pattern-tree.ts'

/**
 * Whether the tree stays small after PostgreSQL expands its repetitions, and avoids constructs that its
 * compiler rejects or is slow with: repeated anchors, many consecutive anchors, and unbounded repetitions of
 * an expression that may be empty.
 */
export function isCheap(tree: PatternTree): boolean {
  const { size, anchors } = weigh(tree)
  return size <= MAX_SIZE && anchors <= MAX_ANCHORS
}

const MAX_SIZE = 500
/** The compile time doubles with each anchor. */
const MAX_ANCHORS = 8
/** PostgreSQL's own limit. */
const MAX_TIMES = 255
const MAX_UNBOUNDED_NESTING = 2
/** This many ranges of a class cost as much as one more state. */
const RANGES_PER_STATE = 10
/** An expression that may be empty is linked with everything after it: once, or for each repetition. */
const EXTRA_WHEN_EMPTY = 2
const FACTOR_WHEN_EMPTY = 3

interface Weight {
  /** Infinite for a tree that must not be pushed down. */
  readonly size: number
  readonly mayBeEmpty: boolean
  /** The maximum number of consecutive anchors. */
  readonly anchors: number
  /** The depth of nested unbounded repetitions. */
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
