/** Which fields differ between two states of a document, for those who decide whether they may. */
import { type Json, type JsonObject, isArray, isObject, sameJson } from '../base/json/json.ts'
import { type Element, type Field, type Fields, isMadeAnew, willBeMade } from './field.ts'
import { isUnseen } from './kind.ts'
import { pairElements } from './pair-elements.ts'

/**
 * By path with indexes of the new state, for each field the first thousand. A container that is removed takes its
 * members along, so they change as well: one path stands for all removed values of a field, with indexes of the old
 * state. Sizes of arrays are the server's business, other versions' members too.
 */
export function changedFields(
  before: JsonObject,
  after: JsonObject,
  { fields, isHidden }: { readonly fields: Fields; readonly isHidden: (field: Field) => boolean },
): ReadonlyMap<string, Field> {
  const changed = new Changed()
  compareMembers(before, after, { fields, at: '', changed, removed: new Set(), isHidden })
  return changed.paths
}

/** A list of every changed value would be as long as the document. */
const MAX_LISTED = 1_000

class Changed {
  readonly paths = new Map<string, Field>()
  readonly #listed = new Map<Field, number>()

  add(path: string, field: Field): void {
    const listed = this.#listed.get(field) ?? 0
    if (listed === MAX_LISTED) return
    this.#listed.set(field, listed + 1)
    this.paths.set(path, field)
  }
}

interface Found {
  readonly changed: Changed
  /** Fields of which a removed value is among the changed ones already. */
  readonly removed: Set<Field>
  /** Hidden members play no part in which element became which. */
  readonly isHidden: (field: Field) => boolean
}

interface Comparison extends Found {
  readonly fields: Fields
  readonly at: string
}

function compareMembers(before: JsonObject, after: JsonObject, comparison: Comparison): void {
  const { fields, at, ...found } = comparison
  for (const field of fields.values()) {
    if (field.name.endsWith('#') || field.kind === 'reference') continue
    const path = at === '' ? field.name : `${at}.${field.name}`
    const [old, fresh] = [own(before, field.name), own(after, field.name)]
    if (!isServersDoing(field, old, fresh)) compareValue(old, fresh, { ...found, field, path })
  }
}

/** To make a value where there was none is the server's doing; to have one replaced is the sender's. */
function isServersDoing(field: Field, old: Json | undefined, fresh: Json | undefined): boolean {
  return willBeMade(field, fresh) && (isMadeAnew(field) || old === undefined || old === null)
}

interface ValueComparison extends Found {
  readonly field: Field
  readonly path: string
}

function compareValue(old: Json | undefined, fresh: Json | undefined, comparison: ValueComparison): void {
  if (sameJson(old, fresh)) return
  const { field, path, ...found } = comparison
  if (field.kind === 'object' && isObject(fresh)) {
    const before = isObject(old) ? old : {}
    if (!isObject(old)) found.changed.add(path, field)
    compareMembers(before, fresh, { ...found, fields: field.fields, at: path })
  } else if (field.kind === 'array' && isArray(fresh)) {
    compareArrays(isArray(old) ? old : [], fresh, { ...comparison, element: field.element })
  } else {
    found.changed.add(path, field)
    addRemoved(old, comparison)
  }
}

/** Elements that only moved change the array; what is new, different or gone changes its fields, too. */
function compareArrays(
  old: readonly Json[],
  fresh: readonly Json[],
  { field, element, path, ...found }: ValueComparison & { readonly element: Element },
): void {
  const pairs = pairElements(old, fresh, element, found.isHidden)
  const isRearranged = old.length !== fresh.length || pairs.some((partner, i) => partner !== i)
  if (isRearranged) found.changed.add(path, field)
  fresh.forEach((each, i) => {
    const partner = pairs[i]
    const before = partner === undefined ? undefined : old[partner]
    compareValue(before, each, { ...found, field: element, path: `${path}.${i}` })
  })
  const kept = new Set(pairs)
  old.forEach((each, i) => {
    if (!kept.has(i)) addRemoved(each, { ...found, field: element, path: `${path}.${i}` })
  })
}

/** All that a value holds and that is gone with it; what the server makes anew with every write is nobody's loss. */
function addRemoved(value: Json | undefined, { field, path, ...found }: ValueComparison): void {
  if (field.kind === 'array' && isArray(value)) {
    value.forEach((each, i) => addRemoved(each, { ...found, field: field.element, path: `${path}.${i}` }))
  }
  if (field.kind !== 'object' || !isObject(value)) return
  for (const name of Object.keys(value)) {
    const member = field.fields.get(name)
    const held = value[name]!
    if (!member || held === null || name.endsWith('#') || isMadeAnew(member) || isUnseen(held, member))
      continue
    const at = `${path}.${name}`
    if (!found.removed.has(member)) found.changed.add(at, member)
    found.removed.add(member)
    addRemoved(held, { ...found, field: member, path: at })
  }
}

function own(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
