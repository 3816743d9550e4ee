/**
 * The order of the members of a stored document. It depends on the schema only, so that documents with the same content
 * are the same text, whatever their history.
 */
import type { Json } from '../base/json/json.ts'
import { memoized } from '../base/memo.ts'
import type { Fields } from './field.ts'

/** The names of all members of an object in their order: as the schema lists them, each size after its array. */
export const orderOf = memoized((fields: Fields): readonly string[] =>
  [...fields.values()].flatMap(({ name, kind }) => {
    if (name.endsWith('#')) return []
    return kind === 'array' ? [name, `${name}#`] : [name]
  }),
)

/** The same for a document, which begins with its type and its `_id`. */
export const rootOrderOf = memoized((fields: Fields): readonly string[] => [
  ...new Set(['objectType', '_id', ...orderOf(fields)]),
])

/** Members of other versions follow, ordered by name. */
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
