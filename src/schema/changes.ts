/** Which fields differ between two states of a document, for those who decide whether they may. */
import { type Json, type JsonObject, isArray, isObject, sameJson } from '../base/json.ts'
import { type Element, type Field, type Fields, isMadeAnew, willBeMade } from './field.ts'
import { pairElements } from './pair-elements.ts'

/**
 * By path with indexes of the new state, for each field the first thousand. Sizes of arrays are the server's business,
 * other versions' members too.
 */
export function changedFields(
  before: JsonObject,
  after: JsonObject,
  { fields, isHidden }: { readonly fields: Fields; readonly isHidden: (field: Field) => boolean },
): ReadonlyMap<string, Field> {
  const changed = new Changed()
  compareMembers(before, after, { fields, at: '', changed, isHidden })
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

interface Comparison {
  readonly fields: Fields
  readonly at: string
  readonly changed: Changed
  /** Hidden members play no part in which element became which. */
  readonly isHidden: (field: Field) => boolean
}

function compareMembers(before: JsonObject, after: JsonObject, comparison: Comparison): void {
  const { fields, at, changed, isHidden } = comparison
  for (const field of fields.values()) {
    if (field.name.endsWith('#') || field.kind === 'reference') continue
    const path = at === '' ? field.name : `${at}.${field.name}`
    const [old, fresh] = [own(before, field.name), own(after, field.name)]
    if (!isServersDoing(field, old, fresh)) compareValue(old, fresh, { field, path, changed, isHidden })
  }
}

/** To make a value where there was none is the server's doing; to have one replaced is the sender's. */
function isServersDoing(field: Field, old: Json | undefined, fresh: Json | undefined): boolean {
  return willBeMade(field, fresh) && (isMadeAnew(field) || old === undefined || old === null)
}

interface ValueComparison {
  readonly field: Field
  readonly path: string
  readonly changed: Changed
  readonly isHidden: (field: Field) => boolean
}

function compareValue(
  old: Json | undefined,
  fresh: Json | undefined,
  { field, path, changed, isHidden }: ValueComparison,
): void {
  if (sameJson(old, fresh)) return
  if (field.kind === 'object' && isObject(fresh)) {
    const before = isObject(old) ? old : {}
    if (!isObject(old)) changed.add(path, field)
    compareMembers(before, fresh, { fields: field.fields, at: path, changed, isHidden })
  } else if (field.kind === 'array' && isArray(fresh)) {
    compareArrays(isArray(old) ? old : [], fresh, { field, element: field.element, path, changed, isHidden })
  } else changed.add(path, field)
}

/** Elements that only moved, or went away, change the array; what is new or different changes its fields, too. */
function compareArrays(
  old: readonly Json[],
  fresh: readonly Json[],
  { field, element, path, changed, isHidden }: ValueComparison & { readonly element: Element },
): void {
  const pairs = pairElements(old, fresh, element, isHidden)
  const isRearranged = old.length !== fresh.length || pairs.some((partner, i) => partner !== i)
  if (isRearranged) changed.add(path, field)
  fresh.forEach((each, i) => {
    const partner = pairs[i]
    const before = partner === undefined ? undefined : old[partner]
    compareValue(before, each, { field: element, path: `${path}.${i}`, changed, isHidden })
  })
}

function own(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
