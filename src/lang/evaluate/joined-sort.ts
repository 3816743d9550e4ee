/** Compiles sort keys that lead through references. */
import type { Json } from '../../base/json/json.ts'
import { type FieldRef, linksOf } from '../resolve/scope.ts'
import type { SortKey } from '../sort.ts'
import { type Linking, documentsBy, hasHolder } from './links.ts'
import type { Seen } from './candidates.ts'
import { compareSortValues, joinedSortValue } from './order.ts'
import type { Yielding } from './time-slice.ts'

/** What a document is sorted by: the document at the end of the way, or a number of documents; undefined: nothing. */
type SourceOf = (seen: Seen) => Yielding<Json | undefined>

/** A reference joins one document. Where null equals null it may join several: then the first of them in the order counts. */
export function compileJoinedKey(key: SortKey<FieldRef>, linking: Linking): SourceOf {
  const { links, counted } = key.field.joined!
  const joinedBy = linksOf({ links, ...(counted && { counted }) }).map((link) => documentsBy(link, linking))
  const follow = function* (seen: Seen, at: number): Yielding<Json | undefined> {
    if (at === links.length) {
      if (!counted) return seen.value
      return hasHolder(counted, seen) ? (yield* joinedBy[at]!(seen)).length : undefined
    }
    let first: { readonly source: Json | undefined; readonly value: Json } | undefined
    for (const value of yield* joinedBy[at]!(seen)) {
      const source = yield* follow({ value, outer: seen }, at + 1)
      const own = { source, value: joinedSortValue(source, key) }
      if (!first || compareSortValues([own.value], [first.value], [key]) < 0) first = own
    }
    return first?.source
  }
  return (seen) => follow(seen, 0)
}
