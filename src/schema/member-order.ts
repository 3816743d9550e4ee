/**
 * The order of the members of documents. A collection stores them in one order, whatever version wrote them: usually that
 * of the fields. A version that lists its fields in another order shows them in its own.
 */
import { type Json, type JsonObject, isArray, isObject } from '../base/json/json.ts'
import { memoized } from '../base/memo.ts'
import { type Field, type Fields, type ObjectField, isStored } from './field.ts'

/** The members with which every document begins. */
export const FIRST_MEMBERS: readonly string[] = ['objectType', '_id']

/** The names of all members of an object, in the order in which the schema lists them; each size follows its array. */
export function orderOf({ path, fields }: Pick<ObjectField, 'path' | 'fields'>): readonly string[] {
  return path === '' ? rootOrderOf(fields) : innerOrderOf(fields)
}

const innerOrderOf = memoized((fields: Fields): readonly string[] =>
  [...fields.values()].flatMap(({ name, kind }) => {
    if (name.endsWith('#')) return []
    return kind === 'array' ? [name, `${name}#`] : [name]
  }),
)

const rootOrderOf = memoized((fields: Fields): readonly string[] => [
  ...new Set([...FIRST_MEMBERS, ...innerOrderOf(fields)]),
])

/** The order in which the members of an object are stored, also those of other versions. */
export function storedOrderOf(object: ObjectField): readonly string[] {
  return object.storedOrder ?? orderOf(object)
}

/** The names of the members of an object, in the order in which they are shown. */
export function shownNames(value: JsonObject, shownOrder: readonly string[] | undefined): readonly string[] {
  const names = Object.keys(value)
  if (!shownOrder || names.length < 2) return names
  const ranks = ranksIn(shownOrder)
  // The documents of references and values that are computed on read follow.
  const rank = (name: string): number => ranks.get(name) ?? shownOrder.length
  return names.sort((a, b) => rank(a) - rank(b))
}

/** An object may have few of the members that its schema lists. */
const ranksIn = memoized(
  (order: readonly string[]): ReadonlyMap<string, number> => new Map(order.map((name, i) => [name, i])),
)

/** Whether stored text may have members in another order than this version shows them in. */
export const isShownInOtherOrder = memoized(hasShownOrder)

function hasShownOrder(field: Field): boolean {
  if (field.kind === 'array') return hasShownOrder(field.element)
  if (field.kind !== 'object') return false
  return field.shownOrder !== undefined || field.fields.values().some(hasShownOrder)
}

/** The members that the documents of this version store, in its own order. */
export function storedMembers(object: ObjectField): readonly string[] {
  return orderOf(object).filter((name) => {
    const field = object.fields.get(name)
    return name.endsWith('#') || (field !== undefined && isStored(field))
  })
}

/** The same document with its members in the order in which they are stored, as far as this version defines them. */
export function inStoredOrder(value: Json, field: Field): Json {
  if (field.kind === 'array' && isArray(value)) return value.map((each) => inStoredOrder(each, field.element))
  if (field.kind !== 'object' || !isObject(value)) return value
  const members: Record<string, Json> = {}
  for (const [name, each] of Object.entries(inOrder(value, storedOrderOf(field)))) {
    const member = field.fields.get(name)
    members[name] = member ? inStoredOrder(each, member) : each
  }
  return members
}

/** Members without a place in the order follow, ordered by name. */
export function inOrder(
  draft: Readonly<Record<string, Json>>,
  names: readonly string[],
): Record<string, Json> {
  const ordered: Record<string, Json> = {}
  let count = 0
  for (const name of names) {
    if (!Object.hasOwn(draft, name)) continue
    ordered[name] = draft[name]!
    count++
  }
  const all = Object.keys(draft)
  if (count === all.length) return ordered
  for (const name of all.filter((each) => !Object.hasOwn(ordered, each)).sort()) ordered[name] = draft[name]!
  return ordered
}
