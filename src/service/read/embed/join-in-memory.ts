/** Which documents of another datasource each holder of a reference joins, found out in memory, within bounds. */
import { type Json, type JsonObject, isArray, isObject, member } from '../../../base/json/json.ts'
import type { Path } from '../../../base/path.ts'
import { type Seen, nowhere } from '../../../lang/evaluate/match.ts'
import { compilePlaces } from '../../../lang/evaluate/match-yielding.ts'
import type { Turns } from '../../../lang/evaluate/time-slice.ts'
import type { PlannedJoin } from '../../../plan/joins.ts'
import { type JoinedDocument, type Slot, type Slots, depthOf, documentsIn, hasApart } from './joined-tree.ts'
import type { Shared } from '../read-context.ts'
import { MAX_SHOWN_BYTES, tooLarge, tooLargeTogether } from '../../memory-limits.ts'

/** A document whose references are to be filled. */
export interface Holder {
  readonly value: JsonObject
  readonly slots: Slots
}

export interface Joining {
  readonly join: PlannedJoin
  /** Which slot of the holders it fills. */
  readonly at: number
  readonly shared: Shared
}

/** Fills the slots of the holders with those of the documents that each of them joins. */
export function* joinTo(
  holders: readonly Holder[],
  documents: readonly JoinedDocument[],
  { join, at, shared }: Joining,
): Turns<void> {
  for (const document of documents) {
    if (shared.patience.isTurnOver()) yield
    document.size = (document.size ?? 0) + sizeApart(document.slots, join.joins)
  }
  let size = 0
  const joinedTo = compileJoin(documents, { join, shared }, (joined) => {
    size += joined.size ?? 0
    if (size > MAX_SHOWN_BYTES) throw tooLarge(join)
  })
  for (const { value, slots } of holders) {
    size = 0
    slots[at] = yield* slotAt(join.plan.steps, { value }, { value, joinedTo })
  }
}

/** The same bound where documents that came along hold what was read apart for them. */
export function* measure(holders: readonly Holder[], { join, at, shared }: Joining): Turns<void> {
  for (const { slots } of holders) {
    if (shared.patience.isTurnOver()) yield
    if (sizeIn(slots[at], join) > MAX_SHOWN_BYTES) throw tooLarge(join)
  }
}

/** How large all is that was read apart for a document: what stands in many places is shown in each of them. */
function sizeApart(slots: Slots, joins: readonly PlannedJoin[]): number {
  return joins.reduce((sum, join, i) => sum + sizeIn(slots[i], join), 0)
}

function sizeIn(slot: Slot, join: PlannedJoin): number {
  if (!hasApart([join])) return 0
  let size = 0
  for (const document of documentsIn(slot, depthOf(join))) {
    size += join.isAlong ? sizeApart(document.slots, join.joins) : (document.size ?? 0)
  }
  return size
}

type JoinedTo = (outer: Seen) => Turns<readonly JoinedDocument[]>

function* slotAt(
  [step, ...rest]: Path,
  seen: Seen,
  at: { readonly value: Json | undefined; readonly joinedTo: JoinedTo },
): Turns<Slot> {
  const { value, joinedTo } = at
  if (rest.length === 0) return isObject(value) ? yield* joinedTo(seen) : undefined
  if (step !== '*') return yield* slotAt(rest, seen, { value: member(value, String(step)), joinedTo })
  if (!isArray(value)) return undefined
  const slots: Slot[] = []
  for (const each of value) {
    slots.push(yield* slotAt(rest, { value: each, outer: seen }, { value: each, joinedTo }))
  }
  return slots
}

function compileJoin(
  documents: readonly JoinedDocument[],
  { join, shared }: Pick<Joining, 'join' | 'shared'>,
  onJoined: (document: JoinedDocument) => void,
): JoinedTo {
  const { patience, held } = shared
  const values = documents.map(({ value }) => value)
  const { isTurnOver } = patience
  const places = compilePlaces(join.plan.query, values, { world: nowhere, isTurnOver })
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

/** What it takes to say that a document is joined, be it read once for all. */
const PLACE_BYTES = 8
