/** Pairs the elements of the old and the new state of an array: by identity if one is declared, then by equal content. */
import { type Json, isObject, member } from '../base/json/json.ts'
import type { Element, Field } from './field.ts'
import { definedPart } from './known.ts'

/** For each new element the position of the old element that it continues, or undefined if there is none. */
export function pairElements(
  old: readonly Json[],
  fresh: readonly Json[],
  element: Element,
  isHidden?: (field: Field) => boolean,
): readonly (number | undefined)[] {
  const pairs: (number | undefined)[] = fresh.map(() => undefined)
  const unpaired = new Set(old.keys())
  const pairBy = (keyOf: KeyOf): void => {
    // Descending, so that `pop` removes the first position of a key.
    const positions = positionsByKey(old, [...unpaired].toReversed(), keyOf)
    for (const [i, value] of fresh.entries()) {
      const key = pairs[i] === undefined ? keyOf(value) : undefined
      const position = key === undefined ? undefined : positions.get(key)?.pop()
      if (position === undefined) continue
      pairs[i] = position
      unpaired.delete(position)
    }
  }
  const identity = identityOf(element, isHidden)
  if (identity.length > 0) pairBy((value) => identityKey(value, identity))
  pairBy((value) => canonical(definedPart(value, element, isHidden)))
  // Without identities, elements that remain on both sides are paired in order: their content changed.
  if (identity.length === 0) {
    const remaining = [...unpaired].values()
    for (const i of fresh.keys()) pairs[i] ??= remaining.next().value
  }
  return pairs
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

/** Equal values have the same text, whatever the order of their keys. */
function canonical(value: Json): string {
  return JSON.stringify(value, (_key, each: Json) =>
    isObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  )
}
