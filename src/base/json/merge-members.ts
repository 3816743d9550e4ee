/** Merges two views of one document, each of which may lack members of the other. */
import { type Json, isArray, isObject } from './json.ts'

/** All members of the first, and those that only the second has. The elements of arrays correspond by position. */
export function mergeMembers(first: Json, second: Json): Json {
  if (isArray(first) && isArray(second) && first.length === second.length) {
    return first.map((each, i) => mergeMembers(each, second[i]!))
  }
  if (!isObject(first) || !isObject(second)) return first
  const members: Record<string, Json> = { ...first }
  for (const [name, value] of Object.entries(second)) {
    members[name] = Object.hasOwn(first, name) ? mergeMembers(first[name]!, value) : value
  }
  return members
}
