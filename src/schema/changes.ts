/** Fields that differ between two states of a document, for the check whether the caller may change them. */
import { type Json, type JsonObject, isArray, isObject, sameJson } from '../base/json/json.ts'
import { type Element, type Field, type Fields, isRegenerated, willBeGenerated } from './field.ts'
import { isOfOtherVersion } from './kind.ts'
import { pairElements } from './pair-elements.ts'

/**
 * Changed fields by path, with array indexes of the new state; at most `MAX_LISTED` paths for each field. Removing an
 * object or array also changes its members: one path, with indexes of the old state, represents all removed values of a
 * field. Sizes of arrays and members of other versions are not compared.
 */
export function changedFields(
  before: JsonObject,
  after: JsonObject,
  { fields, isHidden }: { readonly fields: Fields; readonly isHidden: (field: Field) => boolean },
): ReadonlyMap<string, Field> {
  const changed = new ChangedPaths()
  compareMembers(before, after, { fields, at: '', changed, removed: new Set(), isHidden })
  return changed.paths
}

/** Limit for each field, because a list of all changed values could be as long as the document. */
const MAX_LISTED = 1_000

class ChangedPaths {
  readonly paths = new Map<string, Field>()
  readonly #listed = new Map<Field, number>()

  add(path: string, field: Field): void {
    const listed = this.#listed.get(field) ?? 0
    if (listed === MAX_LISTED) return
    this.#listed.set(field, listed + 1)
    this.paths.set(path, field)
  }
}

interface CollectedChanges {
  readonly changed: ChangedPaths
  /** Fields for which a removed value is listed already. */
  readonly removed: Set<Field>
  /** Hidden members are ignored when elements are paired. */
  readonly isHidden: (field: Field) => boolean
}

interface Comparison extends CollectedChanges {
  readonly fields: Fields
  readonly at: string
}

function compareMembers(before: JsonObject, after: JsonObject, comparison: Comparison): void {
  const { fields, at, ...collected } = comparison
  for (const field of fields.values()) {
    if (field.name.endsWith('#') || field.kind === 'reference') continue
    const old = own(before, field.name)
    const fresh = own(after, field.name)
    if (old === fresh) continue
    const path = at === '' ? field.name : `${at}.${field.name}`
    if (!isServerGenerated(field, old, fresh)) compareValue(old, fresh, { ...collected, field, path })
  }
}

/** A value that the server generates for an empty field is not a change by the caller; replacing a value is one. */
function isServerGenerated(field: Field, old: Json | undefined, fresh: Json | undefined): boolean {
  return willBeGenerated(field, fresh) && (isRegenerated(field) || old === undefined || old === null)
}

interface ValueComparison extends CollectedChanges {
  readonly field: Field
  readonly path: string
}

function compareValue(old: Json | undefined, fresh: Json | undefined, comparison: ValueComparison): void {
  if (sameJson(old, fresh)) return
  const { field, path, ...collected } = comparison
  if (field.kind === 'object' && isObject(fresh)) {
    const before = isObject(old) ? old : {}
    if (!isObject(old)) collected.changed.add(path, field)
    compareMembers(before, fresh, { ...collected, fields: field.fields, at: path })
  } else if (field.kind === 'array' && isArray(fresh)) {
    compareArrays(isArray(old) ? old : [], fresh, { ...comparison, element: field.element })
  } else {
    collected.changed.add(path, field)
    addRemoved(old, comparison)
  }
}

/** Elements that only moved change the array; added, changed and removed elements change their fields as well. */
function compareArrays(
  old: readonly Json[],
  fresh: readonly Json[],
  { field, element, path, ...collected }: ValueComparison & { readonly element: Element },
): void {
  const pairs = pairElements(old, fresh, element, collected.isHidden)
  const isReordered = old.length !== fresh.length || pairs.some((partner, i) => partner !== i)
  if (isReordered) collected.changed.add(path, field)
  fresh.forEach((each, i) => {
    const partner = pairs[i]
    const before = partner === undefined ? undefined : old[partner]
    compareValue(before, each, { ...collected, field: element, path: `${path}.${i}` })
  })
  const paired = new Set(pairs)
  old.forEach((each, i) => {
    if (!paired.has(i)) addRemoved(each, { ...collected, field: element, path: `${path}.${i}` })
  })
}

/** Adds the members of a removed value, except those that the server regenerates with every write. */
function addRemoved(value: Json | undefined, { field, path, ...collected }: ValueComparison): void {
  if (field.kind === 'array' && isArray(value)) {
    value.forEach((each, i) => addRemoved(each, { ...collected, field: field.element, path: `${path}.${i}` }))
  }
  if (field.kind !== 'object' || !isObject(value)) return
  for (const name of Object.keys(value)) {
    const member = field.fields.get(name)
    const memberValue = value[name]!
    if (
      !member ||
      memberValue === null ||
      name.endsWith('#') ||
      isRegenerated(member) ||
      isOfOtherVersion(memberValue, member)
    )
      continue
    const at = `${path}.${name}`
    if (!collected.removed.has(member)) collected.changed.add(at, member)
    collected.removed.add(member)
    addRemoved(memberValue, { ...collected, field: member, path: at })
  }
}

function own(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
