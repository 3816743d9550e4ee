/** Documents that references join and another datasource keeps: one read for each reference, however many hold it. */
import { type Json, type JsonObject, isArray, isObject, member, parseTrusted } from '../base/json.ts'
import type { Path } from '../base/path.ts'
import {
  type JoinKey,
  type JoinParts,
  distinct,
  isAmong,
  keyText,
  keysOf,
  partsOf,
} from '../lang/join-key.ts'
import { looksOnlyOut } from '../lang/looks-out.ts'
import { type Seen, compileQuery } from '../lang/match.ts'
import { allOf } from '../lang/query.ts'
import { type PlannedJoin, plansAlong } from '../plan/joins.ts'
import type { StoredDocument } from '../plan/plan.ts'
import { type JoinedDocument, type Slot, type Slots, depthOf, documentsIn, slotsOf } from './joined-tree.ts'
import { patienceFor } from './patience.ts'
import { type Reading, documentsMatching } from './settle.ts'

/** A document whose references are to be filled. */
export interface Holder {
  readonly value: JsonObject
  readonly slots: Slots
}

export function holderOf({ text, joined }: StoredDocument, joins: readonly PlannedJoin[]): Holder {
  return { value: parseTrusted(text) as JsonObject, slots: slotsOf(joins, joined) }
}

export function hasApart(joins: readonly PlannedJoin[]): boolean {
  return joins.some(({ isAlong, joins: inside }) => !isAlong || hasApart(inside))
}

/** Level by level, all holders of a level at once. */
export async function readApart(
  joins: readonly PlannedJoin[],
  holders: readonly Holder[],
  reading: Reading,
): Promise<void> {
  if (holders.length === 0) return
  for (const [i, join] of joins.entries()) {
    if (join.isAlong) {
      if (!hasApart(join.joins)) continue
      const depth = depthOf(join)
      const inside = holders.flatMap(({ slots }) => [...documentsIn(slots[i], depth)])
      await readApart(join.joins, inside, reading)
    } else {
      const documents = await documentsOf(join, holders, reading)
      await readApart(join.joins, documents, reading)
      const joinedTo = compileJoin(join, documents)
      const patience = patienceFor(reading.bounds)
      for (const { value, slots } of holders) {
        await patience.rest()
        slots[i] = slotAt(join.plan.steps, { value }, { value, joinedTo })
      }
    }
  }
}

/** All documents that some holder may join: found by the holders' keys, or all there are where it has none. */
async function documentsOf(
  { plan, joins, allowed }: PlannedJoin,
  holders: readonly Holder[],
  reading: Reading,
): Promise<readonly JoinedDocument[]> {
  const { local, correlated, key } = partsOf(plan.query)
  const keyed = key ? [isAmong(key.own, keysOfHolders({ key, correlated }, plan.steps, holders))] : []
  const terms = [...local, ...keyed]
  const found = await documentsMatching(
    allowed.schema,
    { ...(terms.length > 0 && { query: allOf(terms) }), sort: plan.sort, joins: plansAlong(joins) },
    reading,
  )
  return found.map(({ text, version, paths, joined }) => ({
    value: parseTrusted(text) as JsonObject,
    version,
    ...(paths !== undefined && { paths }),
    slots: slotsOf(joins, joined),
  }))
}

/** Holders that join nothing whatever there is bring no keys: what is found by those would be read, and counted, in vain. */
function keysOfHolders(
  { key: { other }, correlated }: { readonly key: JoinKey; readonly correlated: JoinParts['correlated'] },
  steps: Path,
  holders: readonly Holder[],
): readonly Json[] {
  const mayJoin = compileQuery(allOf(correlated.filter(looksOnlyOut)))
  const keys = holders.flatMap(({ value }) =>
    [...holdersAt(steps, { value }, value)].flatMap((outer) => {
      // A joined document stands innermost; from there the key is looked up.
      const seen = { value: undefined, outer }
      return mayJoin(seen) ? keysOf(other, seen) : []
    }),
  )
  return distinct(keys)
}

/** The scopes of all objects that hold the reference. */
function* holdersAt([step, ...rest]: Path, seen: Seen, value: Json | undefined): Generator<Seen> {
  if (rest.length === 0) {
    if (isObject(value)) yield seen
  } else if (step === '*') {
    for (const each of isArray(value) ? value : []) yield* holdersAt(rest, { value: each, outer: seen }, each)
  } else yield* holdersAt(rest, seen, member(value, String(step)))
}

type JoinedTo = (outer: Seen) => readonly JoinedDocument[]

function slotAt(
  [step, ...rest]: Path,
  seen: Seen,
  at: { readonly value: Json | undefined; readonly joinedTo: JoinedTo },
): Slot {
  const { value, joinedTo } = at
  if (rest.length === 0) return isObject(value) ? joinedTo(seen) : undefined
  if (step !== '*') return slotAt(rest, seen, { value: member(value, String(step)), joinedTo })
  if (!isArray(value)) return undefined
  return value.map((each) => slotAt(rest, { value: each, outer: seen }, { value: each, joinedTo }))
}

/** By their keys where they have some, so that not every document is held against every holder. */
function compileJoin({ plan }: PlannedJoin, documents: readonly JoinedDocument[]): JoinedTo {
  const matches = compileQuery(plan.query)
  const isJoined = (outer: Seen) => (document: JoinedDocument) => matches({ value: document.value, outer })
  const { key } = partsOf(plan.query)
  if (!key) return (outer) => documents.filter(isJoined(outer))
  const byKey = new Map<string, Set<JoinedDocument>>()
  for (const document of documents) {
    for (const each of keysOf(key.own, { value: document.value })) {
      const text = keyText(each)
      byKey.set(text, (byKey.get(text) ?? new Set()).add(document))
    }
  }
  return (outer) => {
    const near = new Set(keysOf(key.other, { value: undefined, outer }).map(keyText))
    const sets = [...near].map((text) => byKey.get(text) ?? NONE)
    // What several keys lead to is put in order again.
    const found =
      sets.length === 1 ? [...sets[0]!] : documents.filter((each) => sets.some((set) => set.has(each)))
    return found.filter(isJoined(outer))
  }
}

const NONE: ReadonlySet<JoinedDocument> = new Set()
