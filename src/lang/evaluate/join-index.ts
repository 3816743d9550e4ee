/** Indexes documents by the values that a join compares, so that a join need not test every pair of documents. */
import type { Json } from '../../base/json/json.ts'
import { memoized } from '../../base/memo.ts'
import { type JoinKey, type Side, keyText, keysOf } from './join-key.ts'
import type { Seen } from './candidates.ts'
import type { ShouldYield, Yielding } from './time-slice.ts'

/** The positions of all documents that may be joined, ascending; undefined if the index excludes none. */
export type Near = (outer: Seen) => readonly number[] | undefined

/** Uses the pair that leaves the fewest candidates. The whole join must still be evaluated for each of them. */
export function* indexBy(
  pairs: readonly JoinKey[],
  documents: readonly Json[],
  shouldYield: ShouldYield,
): Yielding<Near> {
  const lookups: ((outer: Seen) => Lists)[] = []
  for (const { own, other } of pairs) {
    const index = yield* indexOf(own, documents, shouldYield)
    lookups.push((outer) => listsFor(other, index, outer))
  }
  return (outer) => {
    let best: Lists | undefined
    for (const lookup of lookups) {
      const lists = lookup(outer)
      if (lists.size < (best?.size ?? documents.length)) best = lists
      if (best?.size === 0) break
    }
    return best && inOrder(best)
  }
}

/** Positions of documents by value. */
type KeyIndex = ReadonlyMap<string, readonly number[]>

/** Several clauses over the same documents share their indexes. */
const indexesOf = memoized((_documents: readonly Json[]) => new Map<string, KeyIndex>())

function* indexOf(own: Side, documents: readonly Json[], shouldYield: ShouldYield): Yielding<KeyIndex> {
  const known = indexesOf(documents)
  const name = JSON.stringify([own.field.steps, own.isList])
  const found = known.get(name)
  if (found) return found
  const made = new Map<string, number[]>()
  for (const [place, value] of documents.entries()) {
    if (shouldYield()) yield
    for (const key of keysOf(own, { value })) {
      const text = keyText(key)
      const places = made.get(text)
      if (places) add(places, place)
      else made.set(text, [place])
    }
  }
  known.set(name, made)
  return made
}

/** Positions ascend, so a document with two equal values can only repeat the last entry. */
function add(places: number[], place: number): void {
  if (places.at(-1) !== place) places.push(place)
}

interface Lists {
  readonly lists: readonly (readonly number[])[]
  readonly size: number
}

/** Without a value to compare with there is no candidate. */
function listsFor(other: Side, index: KeyIndex, outer: Seen): Lists {
  const lists = new Set<readonly number[]>()
  // `other` is relative to the scope of a joined document, so an empty one is added as innermost scope.
  for (const value of keysOf(other, { value: undefined, outer })) {
    const places = index.get(keyText(value))
    if (places) lists.add(places)
  }
  return { lists: [...lists], size: [...lists].reduce((sum, { length }) => sum + length, 0) }
}

function inOrder({ lists }: Lists): readonly number[] {
  if (lists.length <= 1) return lists[0] ?? []
  return [...new Set(lists.flat())].sort((a, b) => a - b)
}
