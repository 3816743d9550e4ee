/** Follows references from document to document, in memory. */
import { type Json, isArray, isObject, member } from '../../base/json/json.ts'
import type { Step } from '../../base/path.ts'
import { conjunctsOf } from '../query.ts'
import { looksOut } from '../resolve/query-walk.ts'
import type { DocumentsLink } from '../resolve/scope.ts'
import { type Near, indexBy } from './join-index.ts'
import { pairsIn } from './join-key.ts'
import type { Seen } from './candidates.ts'
import { compileQuery } from './match.ts'
import type { ShouldYield, Yielding } from './time-slice.ts'

export interface Linking {
  /** The documents that a reference may join: a superset of those that it does join. */
  readonly documentsOf: (link: DocumentsLink) => readonly Json[]
  readonly shouldYield: ShouldYield
}

/** The documents that the reference joins to a document, found by an index where its query compares by `=`. */
export function documentsBy(
  link: DocumentsLink,
  { documentsOf, shouldYield }: Linking,
): (outer: Seen) => Yielding<readonly Json[]> {
  const documents = documentsOf(link)
  const matches = compileQuery(link.query)
  let near: Near | undefined
  return function* (outer) {
    if (!hasHolder(link, outer)) return []
    near ??= yield* indexBy(pairsIn(conjunctsOf(link.query).filter(looksOut)), documents, shouldYield)
    const candidates = near(outer)?.map((position) => documents[position]!) ?? documents
    const joined: Json[] = []
    for (const value of candidates) {
      if (shouldYield()) yield
      if (matches({ value, outer })) joined.push(value)
    }
    return joined
  }
}

/** Whether there is an object that has the reference. */
export function hasHolder({ steps }: DocumentsLink, { value }: Seen): boolean {
  return isObject(valueAt(value, steps))
}

export function valueAt(start: Json | undefined, steps: readonly Step[]): Json | undefined {
  let value = start
  for (const step of steps) {
    value = typeof step === 'number' ? (isArray(value) ? value.at(step) : undefined) : member(value, step)
  }
  return value
}
