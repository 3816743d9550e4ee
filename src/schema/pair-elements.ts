/** Pairs the elements of the old and the new state of an array: by identity if one is declared, then by equal content. */
import { type Json, isArray, isNumber, isObject, member, sameJson } from '../base/json/json.ts'
import { spend } from '../base/work/work.ts'
import type { Element, Field } from './field.ts'
import { definedElements, definedMember, definedMembers } from './known.ts'

type IsHidden = (field: Field) => boolean

/** For each new element the position of the old element that it continues, or undefined if there is none. */
export function pairElements(
  old: readonly Json[],
  fresh: readonly Json[],
  element: Element,
  isHidden?: IsHidden,
): readonly (number | undefined)[] {
  const pairs: (number | undefined)[] = fresh.map(() => undefined)
  const identity = identityOf(element, isHidden)
  const needsSearch = identity.length > 0 ? () => true : searchedPositions(old, fresh, { element, isHidden })
  const unpaired = new Set(old.keys().filter(needsSearch))
  const searched = fresh.keys().filter(needsSearch).toArray()
  for (const i of fresh.keys()) if (!needsSearch(i)) pairs[i] = i
  const pairBy = (keyOf: KeyOf): void => {
    // Descending, so that `pop` removes the first position of a key.
    const positions = positionsByKey(old, [...unpaired].toReversed(), keyOf)
    for (const i of searched) {
      const key = pairs[i] === undefined ? keyOf(fresh[i]!) : undefined
      const position = key === undefined ? undefined : positions.get(key)?.pop()
      if (position === undefined) continue
      pairs[i] = position
      unpaired.delete(position)
    }
  }
  if (identity.length > 0) pairBy((value) => identityKey(value, identity))
  pairBy((value) => {
    const key = contentKey(value, element, isHidden)
    spend(key.length * STEPS_PER_CHARACTER)
    return key
  })
  // Without identities, elements that remain on both sides are paired in order: their content changed.
  if (identity.length === 0) {
    const remaining = [...unpaired].values()
    for (const i of searched) pairs[i] ??= remaining.next().value
  }
  return pairs
}

const STEPS_PER_CHARACTER = 0.5

interface Comparison {
  readonly element: Element
  readonly isHidden: IsHidden | undefined
}

/**
 * Tells which positions need a search by key, which costs several times as much as comparing elements in place. Most
 * changes concern few elements: if no element equals one of those that changed, the search would pair all others in
 * place. Elements before the first change are always paired in place.
 */
function searchedPositions(
  old: readonly Json[],
  fresh: readonly Json[],
  { element, isHidden }: Comparison,
): (position: number) => boolean {
  const isSame = (a: Json, b: Json): boolean => sameContent(a, b, element, isHidden)
  const changed = new Set<number>()
  for (let i = 0; i < Math.max(old.length, fresh.length); i++) {
    if (i >= old.length || i >= fresh.length || !isSame(old[i]!, fresh[i]!)) changed.add(i)
    if (changed.size > MAX_IN_PLACE) break
  }
  spend(fresh.length)
  const [first = Infinity] = changed
  const equalsNoOther = (value: Json | undefined): boolean => {
    if (value === undefined) return true
    spend(old.length)
    return old.every((each, i) => i < first || changed.has(i) || !isSame(each, value))
  }
  const isInPlace =
    changed.size <= MAX_IN_PLACE &&
    [...changed].every((i) => equalsNoOther(old[i]) && equalsNoOther(fresh[i]))
  return isInPlace ? (position) => changed.has(position) : (position) => position >= first
}

/** Each of them is compared with all others. */
const MAX_IN_PLACE = 4

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
export function identityOf(element: Element, isHidden?: IsHidden): readonly string[] {
  if (element.kind !== 'object') return []
  return [...element.fields.values()]
    .filter((field) => field.constraints.elementIdentity && !isHidden?.(field))
    .map(({ name }) => name)
}

function identityKey(value: Json, identity: readonly string[]): string | undefined {
  const parts = identity.map((name) => member(value, name))
  return parts.every((part) => part !== undefined && part !== null) ? JSON.stringify(parts) : undefined
}

/** Whether two values have the same content key. */
function sameContent(a: Json, b: Json, field: Field, isHidden?: IsHidden): boolean {
  if (a === b) return true
  if (field.kind === 'array' && isArray(a) && isArray(b)) {
    const before = definedElements(a, field.element)
    const after = definedElements(b, field.element)
    return (
      before.length === after.length &&
      before.every((each, i) => sameContent(each, after[i]!, field.element, isHidden))
    )
  }
  if (field.kind !== 'object' || !isObject(a) || !isObject(b)) return sameJson(a, b)
  let count = 0
  for (const name of Object.keys(a)) {
    const inner = definedMember(a, name, field, isHidden)
    if (!inner) continue
    if (!Object.hasOwn(b, name) || !sameContent(a[name]!, b[name]!, inner, isHidden)) return false
    count++
  }
  for (const name of Object.keys(b)) if (definedMember(b, name, field, isHidden)) count--
  return count === 0
}

/** Equal values have the same text, whatever the order of their keys. Hidden and undefined members are left out. */
function contentKey(value: Json, field: Field, isHidden?: IsHidden): string {
  if (field.kind === 'array' && isArray(value)) {
    const keys = definedElements(value, field.element).map((each) =>
      contentKey(each, field.element, isHidden),
    )
    return `[${keys.join(',')}]`
  }
  if (field.kind !== 'object' || !isObject(value)) return canonical(value)
  const members = definedMembers(value, field, isHidden).sort(([a], [b]) => (a < b ? -1 : 1))
  const keys = members.map(
    ([name, each, inner]) => `${JSON.stringify(name)}:${contentKey(each, inner, isHidden)}`,
  )
  return `{${keys.join(',')}}`
}

function canonical(value: Json): string {
  if (typeof value !== 'object' || value === null || isNumber(value)) return JSON.stringify(value)
  return JSON.stringify(value, (_key, each: Json) =>
    isObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  )
}
