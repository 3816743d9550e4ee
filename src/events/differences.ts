/** Differences between two watched states of a document, each reported once at the outermost path that covers it. */
import { type Json, type JsonObject, isArray, isNumber, isObject, sameJson } from '../base/json/json.ts'
import type { ObjectField } from '../schema/field.ts'
import { type Definition, elementOf, hasNoContent, leafKey, memberOf } from './content-key.ts'
import { type MatchOptions, matchElements } from './match-elements.ts'

/** Array indexes in paths are those of the new state; for removed values, of the old state. */
export type Difference =
  | { readonly kind: 'added'; readonly path: string; readonly to: Json }
  | { readonly kind: 'removed'; readonly path: string; readonly from: Json }
  | { readonly kind: 'changed'; readonly path: string; readonly from: Json; readonly to: Json }
  /** The element is the same, its position is not. */
  | { readonly kind: 'moved'; readonly path: string; readonly movedFrom: string }

export function differencesBetween(
  before: JsonObject,
  after: JsonObject,
  { root, matching }: { readonly root: ObjectField; readonly matching: MatchOptions },
): readonly Difference[] {
  const found: Difference[] = []
  if (!sameJson(before, after)) {
    compareMembers(before, after, { field: root, from: '', to: '', matching, found })
  }
  return found
}

interface Comparison {
  readonly field: Definition
  /** Paths in the old and in the new state. */
  readonly from: string
  readonly to: string
  readonly matching: MatchOptions
  readonly found: Difference[]
}

function compareMembers(before: JsonObject, after: JsonObject, at: Comparison): void {
  for (const name of new Set([...Object.keys(after), ...Object.keys(before)])) {
    const field = memberOf(at.field, name)
    if (field && at.matching.identifiers.has(field)) continue
    const [old, fresh] = [own(before, name), own(after, name)]
    compareValue(old, fresh, { ...at, field, from: below(at.from, name), to: below(at.to, name) })
  }
}

function compareValue(old: Json | undefined, fresh: Json | undefined, at: Comparison): void {
  if (sameJson(old, fresh)) return
  const { field, matching, found } = at
  const [wasEmpty, isEmptyNow] = [hasNoContent(old, field, matching), hasNoContent(fresh, field, matching)]
  if (wasEmpty && isEmptyNow) return
  if (wasEmpty) found.push({ kind: 'added', path: at.to, to: fresh! })
  else if (isEmptyNow) found.push({ kind: 'removed', path: at.from, from: old! })
  else if (isObject(old) && isObject(fresh)) compareMembers(old, fresh, at)
  else if (isArray(old) && isArray(fresh)) compareArrays(old, fresh, at)
  else if (!isSameLeaf(old!, fresh!)) found.push({ kind: 'changed', path: at.to, from: old!, to: fresh! })
}

function isSameLeaf(old: Json, fresh: Json): boolean {
  return isNumber(old) && isNumber(fresh) && leafKey(old) === leafKey(fresh)
}

function compareArrays(old: readonly Json[], fresh: readonly Json[], at: Comparison): void {
  const { matching, found } = at
  const element = elementOf(at.field)
  const pairs = matchElements(old, fresh, { element, matching })
  const [oldRanks, freshRanks] = [old, fresh].map((each) => ranksOf(each, element, matching))
  fresh.forEach((each, i) => {
    const position = pairs.get(i)
    const inside = { ...at, field: element, from: below(at.from, position ?? i), to: below(at.to, i) }
    if (position === undefined) return compareValue(undefined, each, inside)
    const isMoved = oldRanks![position] !== freshRanks![i]
    if (isMoved) found.push({ kind: 'moved', path: inside.to, movedFrom: inside.from })
    compareValue(old[position], each, inside)
  })
  const paired = new Set(pairs.values())
  old.forEach((each, i) => {
    if (paired.has(i)) return
    compareValue(each, undefined, { ...at, field: element, from: below(at.from, i), to: below(at.to, i) })
  })
}

/** Positions among the elements with content; all are equal when the order is not significant. */
function ranksOf(elements: readonly Json[], element: Definition, matching: MatchOptions): readonly number[] {
  if (!matching.isOrdered) return elements.map(() => 0)
  let rank = 0
  return elements.map((each) => (hasNoContent(each, element, matching) ? rank : rank++))
}

function below(path: string, step: string | number): string {
  return path === '' ? String(step) : `${path}.${step}`
}

function own(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
