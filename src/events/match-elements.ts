/** Which element of a watched array became which: equal ones first, then by identity, else by likeness. */
import { type Json, isObject, member, sameJson } from '../base/json/json.ts'
import type { Field } from '../schema/field.ts'
import { identityOf } from '../schema/pair-elements.ts'
import { type Definition, type Reading, contentKey, isHollow, memberOf } from './content-key.ts'

export interface Matching extends Reading {
  /** Identities that are hidden tell nothing apart. */
  readonly isHidden?: (field: Field) => boolean
}

/** For every new element the position of the old one it continues. Elements without content have no part in it. */
export function matchElements(
  old: readonly Json[],
  fresh: readonly Json[],
  { element, matching }: { readonly element: Definition; readonly matching: Matching },
): ReadonlyMap<number, number> {
  const withContent = (values: readonly Json[]): readonly number[] =>
    [...values.keys()].filter((i) => !isHollow(values[i], element, matching))
  const keyOf = (values: readonly Json[]): KeyOf => {
    const keys = new Map<number, string | undefined>()
    return (i) => keys.get(i) ?? keys.set(i, contentKey(values[i], element, matching)).get(i)
  }
  const [oldPlaces, freshPlaces] = [withContent(old), withContent(fresh)]
  const free = { old: new Set(oldPlaces), fresh: new Set(freshPlaces) }
  const pairs = new Map<number, number>()
  const pair = (i: number, position: number): void => {
    pairs.set(i, position)
    free.old.delete(position)
    free.fresh.delete(i)
  }
  const pairInPlace = (isSame: (fresh: number, old: number) => boolean): void => {
    for (const [rank, i] of freshPlaces.entries()) {
      const position = oldPlaces[rank]
      if (position === undefined) return
      if (free.fresh.has(i) && free.old.has(position) && isSame(i, position)) pair(i, position)
    }
  }
  // Most elements stay as and where they are; keys are made only of the others.
  pairInPlace((i, position) => sameJson(old[position], fresh[i]))
  const [oldKeyOf, freshKeyOf] = [keyOf(old), keyOf(fresh)]
  pairInPlace((i, position) => oldKeyOf(position) === freshKeyOf(i))
  pairByKey(free, { oldKeyOf, freshKeyOf, pair })
  const identity = element?.kind === 'object' ? identityOf(element, matching.isHidden) : []
  if (identity.length > 0) {
    const nameOf = (value: Json): string | undefined => identityKey(value, identity, matching)
    pairByKey(free, { oldKeyOf: (i) => nameOf(old[i]!), freshKeyOf: (i) => nameOf(fresh[i]!), pair })
  } else pairByLikeness(free, { old, fresh, element, matching, pair })
  return pairs
}

interface Free {
  readonly old: ReadonlySet<number>
  readonly fresh: ReadonlySet<number>
}
type Pair = (fresh: number, old: number) => void
type KeyOf = (position: number) => string | undefined

function pairByKey(
  free: Free,
  {
    oldKeyOf,
    freshKeyOf,
    pair,
  }: { readonly oldKeyOf: KeyOf; readonly freshKeyOf: KeyOf; readonly pair: Pair },
): void {
  const positions = new Map<string, number[]>()
  for (const position of [...free.old].toReversed()) {
    const key = oldKeyOf(position)
    const known = key === undefined ? undefined : positions.get(key)
    if (known) known.push(position)
    else if (key !== undefined) positions.set(key, [position])
  }
  for (const i of free.fresh) {
    const key = freshKeyOf(i)
    const position = key === undefined ? undefined : positions.get(key)?.pop()
    if (position !== undefined) pair(i, position)
  }
}

function identityKey(value: Json, identity: readonly string[], matching: Reading): string | undefined {
  const parts = identity.map((name) => member(value, name))
  const isComplete = parts.every((part) => part !== undefined && part !== null)
  return isComplete ? parts.map((part) => contentKey(part, undefined, matching)).join() : undefined
}

/** More pairs than these are not tried: what is left over is then gone on one side, and new on the other. */
const MAX_TRIALS = 10_000
/** The same for pairs of large elements: so many of their values are compared at most. */
const MAX_COMPARED = 500_000

/** Each old object continues in the new one most like it, if at least half of what they hold is the same. */
function pairByLikeness(
  free: Free,
  at: {
    readonly old: readonly Json[]
    readonly fresh: readonly Json[]
    readonly element: Definition
    readonly matching: Matching
    readonly pair: Pair
  },
): void {
  if (free.old.size * free.fresh.size > MAX_TRIALS) return
  const leaves = (values: readonly Json[], positions: ReadonlySet<number>): Map<number, Leaves> =>
    new Map(
      [...positions]
        .filter((i) => isObject(values[i]))
        .map((i) => [i, leavesOf(values[i]!, at.element, at.matching)]),
    )
  const candidates = leaves(at.fresh, free.fresh)
  const left = leaves(at.old, free.old)
  let compared = 0
  for (const before of left.values()) compared += before.size * candidates.size
  if (compared > MAX_COMPARED) return
  for (const [position, before] of left) {
    let best: { readonly i: number; readonly share: number } | undefined
    for (const [i, after] of candidates) {
      const share = sameShare(before, after)
      if (share >= 0.5 && share > (best?.share ?? 0)) best = { i, share }
    }
    if (!best) continue
    candidates.delete(best.i)
    at.pair(best.i, position)
  }
}

type Leaves = ReadonlyMap<string, string>

/** Arrays inside of it count as one value each. */
function leavesOf(value: Json, field: Definition, reading: Reading): Leaves {
  const leaves = new Map<string, string>()
  const walk = (each: Json, definition: Definition, at: string): void => {
    if (isObject(each)) {
      for (const name of Object.keys(each)) walk(each[name]!, memberOf(definition, name), `${at}.${name}`)
      return
    }
    const key = contentKey(each, definition, reading)
    if (key !== undefined) leaves.set(at, key)
  }
  walk(value, field, '')
  return leaves
}

/** How much of all that the two hold stands in both, with the same value. */
function sameShare(a: Leaves, b: Leaves): number {
  let same = 0
  let shared = 0
  for (const [at, key] of a) {
    const other = b.get(at)
    if (other !== undefined) shared++
    if (other === key) same++
  }
  return same / (a.size + b.size - shared)
}
