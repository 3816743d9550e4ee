/** Pairs the elements of the old and the new state of an array: by identity if one is declared, then by equal content. */
import { type Json, isObject, member, sameJson } from '../base/json/json.ts'
import { spend } from '../base/work/work.ts'
import type { Element, Field } from './field.ts'
import { definedPart } from './known.ts'

/** For each new element the position of the old element that it continues, or undefined if there is none. */
export function pairElements(
  old: readonly Json[],
  fresh: readonly Json[],
  element: Element,
  isHidden?: (field: Field) => boolean,
): readonly (number | undefined)[] {
  const identity = identityOf(element, isHidden)
  const unchanged = countUnchanged(old, fresh, identity)
  const pairs: (number | undefined)[] = fresh.map((_, i) => (i < unchanged ? i : undefined))
  const unpaired = new Set(old.keys().drop(unchanged))
  const pairBy = (keyOf: KeyOf): void => {
    // Descending, so that `pop` removes the first position of a key.
    const positions = positionsByKey(old, [...unpaired].toReversed(), keyOf)
    for (const [i, value] of fresh.entries().drop(unchanged)) {
      const key = pairs[i] === undefined ? keyOf(value) : undefined
      const position = key === undefined ? undefined : positions.get(key)?.pop()
      if (position === undefined) continue
      pairs[i] = position
      unpaired.delete(position)
    }
  }
  if (identity.length > 0) pairBy((value) => identityKey(value, identity))
  pairBy((value) => contentKey(value, element, isHidden))
  // Without identities, elements that remain on both sides are paired in order: their content changed.
  if (identity.length === 0) {
    const remaining = [...unpaired].values()
    for (const i of fresh.keys()) pairs[i] ??= remaining.next().value
  }
  return pairs
}

/**
 * The number of elements at the beginning that continue the old ones at the same positions. The search for the first old
 * element of a key would find just these, but costs several times as much, and most changes leave most elements alone.
 */
function countUnchanged(old: readonly Json[], fresh: readonly Json[], identity: readonly string[]): number {
  const continues = (before: Json, after: Json): boolean => {
    if (identity.length === 0) return sameJson(before, after)
    const key = identityKey(before, identity)
    return key !== undefined && key === identityKey(after, identity)
  }
  const most = Math.min(old.length, fresh.length)
  let count = 0
  while (count < most && continues(old[count]!, fresh[count]!)) count++
  spend(count)
  return count
}

/** Elements without a key are not paired by it. */
type KeyOf = (value: Json) => string | undefined

function positionsByKey(
  values: readonly Json[],
  positions: readonly number[],
  keyOf: KeyOf,
): ReadonlyMap<string, number[]> {
  const found = new Map<string, number[]>()
  for (const position of positions) {
    const key = keyOf(values[position]!)
    if (key === undefined) continue
    const same = found.get(key)
    if (same) same.push(position)
    else found.set(key, [position])
  }
  return found
}

/** Names of the members that form the identity of an element. */
export function identityOf(element: Element, isHidden?: (field: Field) => boolean): readonly string[] {
  if (element.kind !== 'object') return []
  return [...element.fields.values()]
    .filter((field) => field.constraints.elementIdentity && !isHidden?.(field))
    .map(({ name }) => name)
}

function identityKey(value: Json, identity: readonly string[]): string | undefined {
  const parts = identity.map((name) => member(value, name))
  return parts.every((part) => part !== undefined && part !== null) ? JSON.stringify(parts) : undefined
}

function contentKey(value: Json, element: Element, isHidden?: (field: Field) => boolean): string {
  const key = canonical(definedPart(value, element, isHidden))
  spend(key.length * STEPS_PER_CHARACTER)
  return key
}

const STEPS_PER_CHARACTER = 2

/** Equal values have the same text, whatever the order of their keys. */
function canonical(value: Json): string {
  return JSON.stringify(value, (_key, each: Json) =>
    isObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  )
}
