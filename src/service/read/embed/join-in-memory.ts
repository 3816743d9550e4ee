/** Joins documents of another datasource to their holders in memory, within the limits of time and size. */
import { type Json, type JsonObject, isArray, isObject, member } from '../../../base/json/json.ts'
import type { Path } from '../../../base/path.ts'
import type { Seen } from '../../../lang/evaluate/candidates.ts'
import { nowhere } from '../../../lang/evaluate/match.ts'
import { compileTargets } from '../../../lang/evaluate/match-yielding.ts'
import type { Yielding } from '../../../lang/evaluate/time-slice.ts'
import type { PlannedJoin } from '../../../plan/joins.ts'
import {
  type JoinedDocument,
  type JoinedSet,
  type JoinedSets,
  depthOf,
  documentsIn,
  hasSeparate,
} from './joined-tree.ts'
import type { Shared } from '../read-context.ts'
import { MAX_SHOWN_BYTES, tooLarge, tooLargeTogether } from '../../memory-limits.ts'

/** A document whose references are to be embedded. */
export interface Holder {
  readonly value: JsonObject
  readonly joinedSets: JoinedSets
}

export interface Joining {
  readonly join: PlannedJoin
  /** The index of the join in the holders' `joinedSets`. */
  readonly at: number
  readonly shared: Shared
}

/** Fills the joined sets of the holders with the documents that each of them joins. */
export function* joinTo(
  holders: readonly Holder[],
  documents: readonly JoinedDocument[],
  { join, at, shared }: Joining,
): Yielding<void> {
  for (const document of documents) {
    if (shared.timeSlice.shouldYield()) yield
    document.size = (document.size ?? 0) + sizeSeparately(document.joinedSets, join.joins)
  }
  let size = 0
  const joinedTo = compileJoin(documents, { join, shared }, (joined) => {
    // Documents of which only the number is embedded are not shown.
    if (!join.plan.isCount) size += joined.size ?? 0
    if (size > MAX_SHOWN_BYTES) throw tooLarge(join)
  })
  for (const { value, joinedSets } of holders) {
    size = 0
    joinedSets[at] = yield* joinedSetAt(join.plan.steps, { value }, { value, joinedTo })
  }
}

/** Applies the same size limit where documents read in the statement have references that were read separately. */
export function* measure(holders: readonly Holder[], { join, at, shared }: Joining): Yielding<void> {
  for (const { joinedSets } of holders) {
    if (shared.timeSlice.shouldYield()) yield
    if (sizeIn(joinedSets[at], join) > MAX_SHOWN_BYTES) throw tooLarge(join)
  }
}

/**
 * The size of all documents that were read separately for a document. A document that is embedded repeatedly
 * counts each time.
 */
function sizeSeparately(joinedSets: JoinedSets, joins: readonly PlannedJoin[]): number {
  return joins.reduce((sum, join, i) => sum + sizeIn(joinedSets[i], join), 0)
}

function sizeIn(joinedSet: JoinedSet, join: PlannedJoin): number {
  if (!hasSeparate([join])) return 0
  let size = 0
  for (const document of documentsIn(joinedSet, depthOf(join))) {
    size += join.inStatement ? sizeSeparately(document.joinedSets, join.joins) : (document.size ?? 0)
  }
  return size
}

type JoinedTo = (outer: Seen) => Yielding<readonly JoinedDocument[]>

function* joinedSetAt(
  [step, ...rest]: Path,
  seen: Seen,
  at: { readonly value: Json | undefined; readonly joinedTo: JoinedTo },
): Yielding<JoinedSet> {
  const { value, joinedTo } = at
  if (rest.length === 0) return isObject(value) ? yield* joinedTo(seen) : undefined
  if (step !== '*') return yield* joinedSetAt(rest, seen, { value: member(value, String(step)), joinedTo })
  if (!isArray(value)) return undefined
  const joinedSets: JoinedSet[] = []
  for (const each of value) {
    joinedSets.push(yield* joinedSetAt(rest, { value: each, outer: seen }, { value: each, joinedTo }))
  }
  return joinedSets
}

function compileJoin(
  documents: readonly JoinedDocument[],
  { join, shared }: Pick<Joining, 'join' | 'shared'>,
  onJoined: (document: JoinedDocument) => void,
): JoinedTo {
  const { timeSlice, held } = shared
  const values = documents.map(({ value }) => value)
  const { shouldYield } = timeSlice
  const places = compileTargets(join.plan.query, values, { world: nowhere, shouldYield })
  return function* (outer) {
    const joined: JoinedDocument[] = []
    for (const place of places(outer)) {
      if (place === undefined) yield
      else {
        const document = documents[place]!
        onJoined(document)
        held.hold(PLACE_BYTES, () => tooLargeTogether(join, held))
        joined.push(document)
      }
    }
    return joined
  }
}

/** Memory for one entry of a joined set. The document itself is counted once, when it is read. */
const PLACE_BYTES = 8
