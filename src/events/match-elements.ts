/** Pairs the elements of two states of a watched array: equal ones first, then by identity, or else by similarity. */
import { type Json, isObject, member, sameJson } from '../base/json/json.ts'
import type { Field } from '../schema/field.ts'
import { identityOf } from '../schema/pair-elements.ts'
import { type ContentOptions, type Definition, contentKey, hasNoContent, memberOf } from './content-key.ts'

export interface MatchOptions extends ContentOptions {
  /** Hidden identities are not used. */
  readonly isHidden?: (field: Field) => boolean
}

/** For each new element the position of the old element that it continues. Elements without content are ignored. */
export function matchElements(
  old: readonly Json[],
  fresh: readonly Json[],
  { element, matching }: { readonly element: Definition; readonly matching: MatchOptions },
): ReadonlyMap<number, number> {
  const withContent = (values: readonly Json[]): readonly number[] =>
    [...values.keys()].filter((i) => !hasNoContent(values[i], element, matching))
  const keyOf = (values: readonly Json[]): KeyOf => {
    const keys = new Map<number, string | undefined>()
    return (i) => keys.get(i) ?? keys.set(i, contentKey(values[i], element, matching)).get(i)
  }
  const [oldPositions, freshPositions] = [withContent(old), withContent(fresh)]
  const unpaired = { old: new Set(oldPositions), fresh: new Set(freshPositions) }
  const pairs = new Map<number, number>()
  const pair = (i: number, position: number): void => {
    pairs.set(i, position)
    unpaired.old.delete(position)
    unpaired.fresh.delete(i)
  }
  const pairAtSameRank = (isSame: (fresh: number, old: number) => boolean): void => {
    for (const [rank, i] of freshPositions.entries()) {
      const position = oldPositions[rank]
      if (position === undefined) return
      if (unpaired.fresh.has(i) && unpaired.old.has(position) && isSame(i, position)) pair(i, position)
    }
  }
  // Most elements neither change nor move; keys are computed only for the others.
  pairAtSameRank((i, position) => sameJson(old[position], fresh[i]))
  const [oldKeyOf, freshKeyOf] = [keyOf(old), keyOf(fresh)]
  pairAtSameRank((i, position) => oldKeyOf(position) === freshKeyOf(i))
  pairByKey(unpaired, { oldKeyOf, freshKeyOf, pair })
  const identity = element?.kind === 'object' ? identityOf(element, matching.isHidden) : []
  if (identity.length > 0) {
    const nameOf = (value: Json): string | undefined => identityKey(value, identity, matching)
    pairByKey(unpaired, { oldKeyOf: (i) => nameOf(old[i]!), freshKeyOf: (i) => nameOf(fresh[i]!), pair })
  } else pairBySimilarity(unpaired, { old, fresh, element, matching, pair })
  return pairs
}

interface Unpaired {
  readonly old: ReadonlySet<number>
  readonly fresh: ReadonlySet<number>
}
type Pair = (fresh: number, old: number) => void
type KeyOf = (position: number) => string | undefined

function pairByKey(
  unpaired: Unpaired,
  {
    oldKeyOf,
    freshKeyOf,
    pair,
  }: { readonly oldKeyOf: KeyOf; readonly freshKeyOf: KeyOf; readonly pair: Pair },
): void {
  const positions = new Map<string, number[]>()
  for (const position of [...unpaired.old].toReversed()) {
    const key = oldKeyOf(position)
    const samePositions = key === undefined ? undefined : positions.get(key)
    if (samePositions) samePositions.push(position)
    else if (key !== undefined) positions.set(key, [position])
  }
  for (const i of unpaired.fresh) {
    const key = freshKeyOf(i)
    const position = key === undefined ? undefined : positions.get(key)?.pop()
    if (position !== undefined) pair(i, position)
  }
}

function identityKey(value: Json, identity: readonly string[], matching: ContentOptions): string | undefined {
  const parts = identity.map((name) => member(value, name))
  const isComplete = parts.every((part) => part !== undefined && part !== null)
  return isComplete ? parts.map((part) => contentKey(part, undefined, matching)).join() : undefined
}

/** With more candidate pairs, elements are not paired by similarity: they count as removed and added. */
const MAX_CANDIDATE_PAIRS = 10_000
/** The same limit for large elements: the number of values to compare. */
const MAX_COMPARED_VALUES = 500_000

/** Pairs each old object with the most similar new one, if at least half of their values are the same. */
function pairBySimilarity(
  unpaired: Unpaired,
  at: {
    readonly old: readonly Json[]
    readonly fresh: readonly Json[]
    readonly element: Definition
    readonly matching: MatchOptions
    readonly pair: Pair
  },
): void {
  if (unpaired.old.size * unpaired.fresh.size > MAX_CANDIDATE_PAIRS) return
  const leaves = (values: readonly Json[], positions: ReadonlySet<number>): Map<number, Leaves> =>
    new Map(
      [...positions]
        .filter((i) => isObject(values[i]))
        .map((i) => [i, leavesOf(values[i]!, at.element, at.matching)]),
    )
  const freshLeaves = leaves(at.fresh, unpaired.fresh)
  const oldLeaves = leaves(at.old, unpaired.old)
  let compared = 0
  for (const before of oldLeaves.values()) compared += before.size * freshLeaves.size
  if (compared > MAX_COMPARED_VALUES) return
  for (const [position, before] of oldLeaves) {
    let best: { readonly i: number; readonly score: number } | undefined
    for (const [i, after] of freshLeaves) {
      const score = similarity(before, after)
      if (score >= 0.5 && score > (best?.score ?? 0)) best = { i, score }
    }
    if (!best) continue
    freshLeaves.delete(best.i)
    at.pair(best.i, position)
  }
}

type Leaves = ReadonlyMap<string, string>

/** Each nested array counts as one value. */
function leavesOf(value: Json, field: Definition, options: ContentOptions): Leaves {
  const leaves = new Map<string, string>()
  const walk = (each: Json, definition: Definition, at: string): void => {
    if (isObject(each)) {
      for (const name of Object.keys(each)) walk(each[name]!, memberOf(definition, name), `${at}.${name}`)
      return
    }
    const key = contentKey(each, definition, options)
    if (key !== undefined) leaves.set(at, key)
  }
  walk(value, field, '')
  return leaves
}

/** The share of paths that have the same value in both. */
function similarity(a: Leaves, b: Leaves): number {
  let same = 0
  let shared = 0
  for (const [at, key] of a) {
    const other = b.get(at)
    if (other !== undefined) shared++
    if (other === key) same++
  }
  return same / (a.size + b.size - shared)
}
