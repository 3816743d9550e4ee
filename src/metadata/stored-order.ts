/**
 * The order in which a collection stores the members of its documents. It is the same for all versions: members that a new
 * version adds get their place among the others, which keep theirs, so stored documents stay in order. The text of a
 * document then suits every version that lists its fields in this order; the others put members into theirs on read.
 *
 * A store records the order with the paths of the collection. Paths are listed as they were added, and each new path comes
 * last among its siblings, unless `$before.[path, name]` puts it before one of them. `$ordered` tells such a record from that
 * of an earlier release, whose versions each stored their own order.
 */
import { sameJson } from '../base/json/json.ts'
import type { Element, Field, ObjectField } from '../schema/field.ts'
import { FIRST_MEMBERS, storedMembers } from '../schema/member-order.ts'

/**
 * What versions add to the record of their collection, beside their paths, which are added in the same order. The record of an
 * earlier release begins to have an order if all `earlier` versions stored theirs.
 */
export function orderEntries(
  record: readonly string[],
  roots: readonly ObjectField[],
  earlier: readonly MemberNames[],
): readonly string[] {
  if (record.length > 0 && !hasOrder(record)) {
    if (earlier.length === 0 || disorderedIn(record, earlier).length > 0) return []
  }
  const known = new Set(record)
  const entries = [ORDERED]
  for (const object of roots.flatMap((root) => [...objectsIn(root)])) {
    let next: string | undefined
    for (const name of namesOf(object).toReversed()) {
      const path = within(object, name)
      if (known.has(path)) next = name
      else if (next !== undefined) entries.push(`${BEFORE}${JSON.stringify([path, next])}`)
    }
    for (const name of namesOf(object)) known.add(within(object, name))
  }
  return entries
}

/**
 * For the record of an earlier release, the objects whose members may be stored in several orders. Each version stored its
 * own order, followed by the members of other versions, ordered by name.
 */
export function withDisordered(
  record: readonly string[],
  versions: () => readonly MemberNames[],
): readonly string[] {
  if (hasOrder(record)) return record
  return [...record, ...disorderedIn(record, versions()).map((path) => `${DISORDERED}${path}`)]
}

/** The members of each object of a version, by its path, in the order in which the version lists them. */
export type MemberNames = ReadonlyMap<string, readonly string[]>

export function memberNames(root: ObjectField): MemberNames {
  return new Map([...objectsIn(root)].map((object) => [object.path, namesOf(object)]))
}

/** The paths of these objects. */
function disorderedIn(record: readonly string[], versions: readonly MemberNames[]): readonly string[] {
  const recorded = levelsIn(record)
  const objects = Map.groupBy(
    versions.flatMap((names) => [...names]),
    ([path]) => path,
  )
  const disordered = [...objects].filter(([path, listed]) => {
    const orders = listed.map(([, names]) => names).sort((a, b) => a.length - b.length)
    const longest = orders.at(-1)!
    const added = longest.slice(orders[0]!.length)
    const isSound =
      orders.every((names) => names.every((name, i) => name === longest[i])) &&
      added.toSorted().every((name, i) => name === added[i]) &&
      isPartOf(longest, recorded.get(path) ?? [])
    return !isSound
  })
  return disordered.map(([path]) => path)
}

/** Whether an entry of the record says something about order. */
export function isOfOrder(entry: string): boolean {
  return entry === ORDERED || entry.startsWith(BEFORE) || isDerived(entry)
}

/** Whether an entry was derived, and is not in the record of the store. */
export function isDerived(entry: string): boolean {
  return entry.startsWith(DISORDERED)
}

/** Tells the objects of a version in which order their members are stored and shown, where that is not the order of its fields. */
export function ordering(record: readonly string[]): (root: ObjectField) => ObjectField {
  if (record.length === 0) return (root) => root
  const entries = new Set(record)
  const levels = hasOrder(record) ? levelsIn(record) : undefined
  return (root) => ordered(root, { entries, levels }, false)
}

const ORDERED = '$ordered'
const BEFORE = '$before.'
const DISORDERED = '$disordered.'

function hasOrder(record: readonly string[]): boolean {
  return record.includes(ORDERED)
}

/** All objects of a schema: the document itself, objects in it, and elements of its arrays. */
function* objectsIn(root: ObjectField): Generator<ObjectField> {
  const rest: ObjectField[] = [root]
  while (rest.length > 0) {
    const object = rest.pop()!
    yield object
    for (const field of object.fields.values()) {
      const inside = field.kind === 'array' ? field.element : field
      if (inside.kind === 'object') rest.push(inside)
    }
  }
}

/** The stored members of an object, without sizes, and without the two with which every document begins. */
function namesOf(object: ObjectField): readonly string[] {
  const names = storedMembers(object).filter((name) => !name.endsWith('#'))
  return object.path === '' ? names.filter((name) => !FIRST_MEMBERS.includes(name)) : names
}

function within({ path }: Pick<ObjectField, 'path'>, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

/** The members of each object in stored order, by its path. */
type Levels = ReadonlyMap<string, readonly string[]>

function levelsIn(record: readonly string[]): Levels {
  const places = new Map(record.filter((entry) => entry.startsWith(BEFORE)).map(placeIn))
  const last = new Map<string, string[]>()
  const before = new Map<string, string[]>()
  for (const path of record) {
    if (path === '' || path.startsWith('$') || path.endsWith('#') || FIRST_MEMBERS.includes(path)) continue
    const end = path.lastIndexOf('.')
    const above = path.slice(0, Math.max(end, 0))
    const next = places.get(path)
    const list = next === undefined ? last : before
    const key = next === undefined ? above : within({ path: above }, next)
    const names = list.get(key) ?? []
    names.push(path.slice(end + 1))
    list.set(key, names)
  }
  return new Map([...last].map(([above, names]) => [above, withPlaced(names, above, before)]))
}

function placeIn(entry: string): [path: string, next: string] {
  return JSON.parse(entry.slice(BEFORE.length)) as [string, string]
}

/** Puts each name behind those that were placed before it. */
function withPlaced(
  names: readonly string[],
  above: string,
  before: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const order: string[] = []
  // Not recursive: every version may have placed a name before that of the version before it.
  const rest = names.toReversed().map((name) => ({ name, isReady: false }))
  while (rest.length > 0) {
    const { name, isReady } = rest.pop()!
    const placed = isReady ? undefined : before.get(within({ path: above }, name))
    if (!placed) order.push(name)
    else {
      rest.push({ name, isReady: true })
      for (const each of placed.toReversed()) rest.push({ name: each, isReady: false })
    }
  }
  return order
}

interface Orders {
  readonly entries: ReadonlySet<string>
  /** Absent for the record of an earlier release. */
  readonly levels: Levels | undefined
}

/** `isFree`: some version takes any value here, whose members it stores as they were sent. */
function ordered(object: ObjectField, orders: Orders, isFree: boolean): ObjectField {
  const fields = [...object.fields].map(([name, field]): [string, Field] => [
    name,
    orderedInside(field, orders, isFree),
  ])
  const { entries, levels } = orders
  const own = storedMembers(object)
  const names = namesOf(object)
  const level = levels && (levels.get(object.path) ?? [])
  const isElsewhere =
    isFree || entries.has(`${DISORDERED}${object.path}`) || (level && !isPartOf(names, level))
  const stored = level && withSizes(level, object, entries)
  return {
    ...object,
    fields: new Map(fields),
    ...(isElsewhere && names.length > 1 && { shownOrder: own }),
    ...(stored && !sameJson(stored, own) && { storedOrder: stored }),
  }
}

function orderedInside(field: Field, orders: Orders, isFree: boolean): Field {
  if (field.kind !== 'object' && field.kind !== 'array') return field
  const isFreeHere = isFree || orders.entries.has(`$any.${field.path}`)
  if (field.kind === 'object') return ordered(field, orders, isFreeHere)
  if (field.element.kind !== 'object') return field
  const isFreeInside = isFreeHere || orders.entries.has(`$any.${field.element.path}`)
  return { ...field, element: ordered(field.element, orders, isFreeInside) as Element }
}

/** Each size follows its array, also where only another version has one of this name. */
function withSizes(
  level: readonly string[],
  object: ObjectField,
  entries: Orders['entries'],
): readonly string[] {
  const names = level.flatMap((name) =>
    entries.has(within(object, `${name}#`)) ? [name, `${name}#`] : [name],
  )
  return object.path === '' ? [...FIRST_MEMBERS, ...names] : names
}

/** Whether the names are in this order; others may stand between them. */
function isPartOf(names: readonly string[], order: readonly string[]): boolean {
  let place = 0
  for (const name of names) {
    place = order.indexOf(name, place) + 1
    if (place === 0) return false
  }
  return true
}
