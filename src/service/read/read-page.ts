/**
 * Reads the documents of a find with all joined documents: in one statement, or from one datasource after the
 * other.
 */
import type { Yielding } from '../../lang/evaluate/time-slice.ts'
import type { IsInStatement } from '../../plan/joins.ts'
import type { FindPlan } from '../../plan/read.ts'
import type { ReadPlan, StoredDocument } from '../../plan/plan.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Found } from '../../store/store.ts'
import { isPushable, isSortedByStore } from './pushdown.ts'
import type { Deps } from '../deps.ts'
import { type JoinedSet, hasSeparate } from './embed/joined-tree.ts'
import { holdersOf, readSeparately } from './embed/read-joined.ts'
import { type ReadContext, sharing } from './read-context.ts'
import { resolveRemoteJoins, sizeOf } from './embed/remote-joins.ts'
import { tooLargeToHold } from '../memory-limits.ts'
import { unbounded, visit } from './scan.ts'
import { readSorted } from './sort-here.ts'

export type OnDocument = (document: StoredDocument, joinedSets?: readonly JoinedSet[]) => void
export type PageReading = ReadContext & { readonly schema: Schema }

/** Whether one statement can read both documents and their joined documents; a transaction makes no difference. */
export function isInStatement({ storeIn }: Pick<Deps, 'storeIn'>): IsInStatement {
  return ({ schema, query }, { datasource }) => {
    if (schema.collection.datasource !== datasource) return false
    const store = storeIn(datasource)
    return store.canJoin() && store.answers(query)
  }
}

export async function readPage(plan: FindPlan, reading: PageReading, take: OnDocument): Promise<Found> {
  const { read, joins } = plan
  const { deps, schema, bounds } = reading
  if (!joins && isSortedByStore(read, schema, deps))
    return await deps.storeOf(schema).find(read, take, bounds)
  if (!joins || !hasSeparate(joins)) return await readMatches(read, reading, take)
  const together = { ...sharing(reading), schema }
  const { timeSlice, held } = together.shared
  const documents: StoredDocument[] = []
  const found = await readMatches(read, together, (document) => {
    held.hold(sizeOf(document), () => tooLargeToHold(schema, held))
    documents.push(document)
  })
  const holders = await timeSlice.finish(holdersOf(documents, joins, together.shared))
  await readSeparately(joins, holders, together)
  await timeSlice.finish(
    forEachYielding(documents.keys(), timeSlice.shouldYield, (i) =>
      take(documents[i]!, holders[i]!.joinedSets),
    ),
  )
  return found
}

function* forEachYielding<T>(
  items: Iterable<T>,
  shouldYield: () => boolean,
  work: (item: T) => void,
): Yielding<void> {
  for (const item of items) {
    if (shouldYield()) yield
    work(item)
  }
}

/** The number of documents that a find matches, independent of its page. */
export async function countMatches({ read }: FindPlan, reading: PageReading): Promise<number> {
  const { joins: _, ...alone } = read
  const { matchCount } = await readMatches({ ...alone, sort: [], from: 0, to: -1 }, reading, () => undefined)
  return matchCount
}

/** If no store can evaluate the whole query, every candidate is checked here, and the page is cut out in memory. */
async function readMatches(
  read: ReadPlan,
  reading: PageReading,
  take: (document: StoredDocument) => void,
): Promise<Found> {
  const { deps, schema, bounds } = reading
  const { query } = read
  if (!isSortedByStore(read, schema, deps)) {
    const { documents, matchCount } = await readSorted(read, { schema, reading: sharing(reading) })
    for (const document of documents) take(document)
    return { matchCount }
  }
  if (!query || isPushable(query, schema, reading)) return await deps.storeOf(schema).find(read, take, bounds)
  const together = sharing(reading)
  const { isMatch, ...resolved } = await resolveRemoteJoins(read, schema, together)
  if (!isMatch) return await deps.storeOf(schema).find(resolved.read, take, bounds)
  const { to = Infinity } = read
  let matchCount = 0
  await visit(unbounded(resolved.read), { schema, reading: together }, function* (document) {
    if (!(yield* isMatch(document))) return true
    const isOnPage = matchCount >= read.from && matchCount <= to
    matchCount++
    if (isOnPage) take(document)
    return read.counted || matchCount <= to
  })
  return { matchCount: read.counted ? matchCount : 0 }
}
