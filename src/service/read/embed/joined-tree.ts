/** A document with the documents that its references join, level by level. */
import { type Json, type JsonObject, isArray } from '../../../base/json/json.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import type { PlannedJoin } from '../../../plan/joins.ts'
import { type JoinedDocuments, TOO_LARGE } from '../../../plan/plan.ts'
import { tooLarge } from '../../memory-limits.ts'

/** A document that a reference joins. */
export interface JoinedDocument {
  readonly value: JsonObject
  readonly version: number
  /** See `StoredDocument`. */
  readonly paths?: number
  /** The documents that its own references join, in the order of the plan. */
  readonly joinedSets: JoinedSets
  /** Only if read separately: its size, including the documents of its references once they are joined. */
  size?: number
}

/** One for each join; joins that are read separately are filled in later. */
export type JoinedSets = JoinedSet[]

/** Documents or their number, or one joined set for every element of an array on the path to the reference. */
export type JoinedSet = readonly JoinedDocument[] | number | readonly JoinedSet[] | undefined

export function joinedSetsOf(
  joins: readonly PlannedJoin[],
  joined: readonly JoinedDocuments[] | undefined,
): JoinedSets {
  const along = (joined ?? [])[Symbol.iterator]()
  return joins.map((join) => {
    if (!join.inStatement) return undefined
    const { documents, facts } = along.next().value!
    if (documents === null || facts === null) return undefined
    return joinedSetFrom(join, {
      documents: parseTrusted(documents),
      facts: parseTrusted(facts),
      depth: depthOf(join),
    })
  })
}

/** The number of arrays on the path to the reference. */
export function depthOf({ plan }: PlannedJoin): number {
  return plan.steps.filter((step) => step === '*').length
}

interface Read {
  readonly documents: Json | undefined
  readonly facts: Json | undefined
  readonly depth: number
}

function joinedSetFrom(join: PlannedJoin, { documents, facts, depth }: Read): JoinedSet {
  if (documents === TOO_LARGE || facts === TOO_LARGE) throw tooLarge(join)
  if (join.plan.isCount) return numbersFrom(documents)
  if (!isArray(documents)) return undefined
  if (join.plan.isShownWhole) return documents.map((value) => wholeFrom(value as JsonObject))
  if (!isArray(facts)) return undefined
  if (depth > 0) {
    return documents.map((each, i) =>
      joinedSetFrom(join, { documents: each, facts: facts[i], depth: depth - 1 }),
    )
  }
  return documents.map((value, i) => documentFrom(join, value as JsonObject, facts[i] as readonly Json[]))
}

function numbersFrom(numbers: Json | undefined): JoinedSet {
  if (isArray(numbers)) return numbers.map(numbersFrom)
  return typeof numbers === 'number' ? numbers : undefined
}

/** A document that is embedded whole needs neither its version nor joined sets. */
function wholeFrom(value: JsonObject): JoinedDocument {
  return { value, version: 0, joinedSets: [] }
}

function documentFrom(join: PlannedJoin, value: JsonObject, [version, paths, ...inside]: readonly Json[]) {
  let next = 0
  const joinedSets = join.joins.map((each): JoinedSet => {
    if (!each.inStatement) return undefined
    const [documents, facts] = [inside[next++], inside[next++]]
    return joinedSetFrom(each, { documents, facts, depth: depthOf(each) })
  })
  return { value, version: Number(version), ...(paths !== null && { paths: Number(paths) }), joinedSets }
}

/** Whether a join at any level is read separately. */
export function hasSeparate(joins: readonly PlannedJoin[]): boolean {
  return joins.some(({ inStatement, joins: inside }) => !inStatement || hasSeparate(inside))
}

export function* documentsIn(joinedSet: JoinedSet, depth: number): Generator<JoinedDocument> {
  if (typeof joinedSet === 'number') return
  for (const each of joinedSet ?? []) {
    if (depth === 0) yield each as JoinedDocument
    else yield* documentsIn(each as JoinedSet, depth - 1)
  }
}
