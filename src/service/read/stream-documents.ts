/** Streams the documents of a find one by one with all joined documents, in constant memory. */
import { yieldEvery } from '../../base/work/yield-every.ts'
import type { PlannedJoin } from '../../plan/joins.ts'
import type { FindPlan } from '../../plan/read.ts'
import type { ReadPlan, StoredDocument } from '../../plan/plan.ts'
import { type JoinedSet, hasSeparate } from './embed/joined-tree.ts'
import { holdersOf, readSeparately } from './embed/read-joined.ts'
import { isSortedByStore } from './pushdown.ts'
import type { PageReading } from './read-page.ts'
import { sharing } from './read-context.ts'
import { resolveRemoteJoins } from './embed/remote-joins.ts'
import { unbounded } from './scan.ts'
import { readSorted } from './sort-here.ts'

/** A document, with the documents that were read separately for it. */
export type ReadDocument = readonly [document: StoredDocument, joinedSets?: readonly JoinedSet[]]

/** Documents per batch: so many are in memory while their joined documents are read. */
const BATCH = 200
const SLICE_MS = 10

export async function* streamPage(
  { read, joins }: FindPlan,
  reading: PageReading,
): AsyncGenerator<ReadDocument, void> {
  const { deps, schema, bounds } = reading
  const store = deps.storeIn(schema.collection.datasource)
  if (!joins && isSortedByStore(read, schema, deps)) {
    for await (const document of store.stream(read, bounds)) yield [document]
    return
  }
  const matches = streamMatches(read, reading)
  if (joins && hasSeparate(joins)) yield* inBatches(matches, joins, reading)
  else for await (const document of matches) yield [document]
}

async function* streamMatches(read: ReadPlan, reading: PageReading): AsyncGenerator<StoredDocument> {
  const { deps, schema, bounds } = reading
  const store = deps.storeIn(schema.collection.datasource)
  const { shared, ...together } = sharing(reading)
  if (!isSortedByStore(read, schema, deps)) {
    const sorted = await readSorted(read, { schema, reading: { ...together, shared } })
    // They are in memory, so that nothing else would let other requests run between them.
    const rest = yieldEvery(SLICE_MS)
    for (const document of sorted.documents) {
      await rest()
      yield document
    }
    return
  }
  const resolved = await resolveRemoteJoins(read, schema, { ...together, shared })
  const { isMatch } = resolved
  if (!isMatch) {
    yield* store.stream(resolved.read, bounds)
    return
  }
  let matches = 0
  for await (const document of store.stream(unbounded(resolved.read), bounds)) {
    if (read.to !== undefined && matches > read.to) return
    const holds = await shared.timeSlice.finish(isMatch(document))
    if (holds && matches++ >= read.from) yield document
  }
}

async function* inBatches(
  documents: AsyncIterable<StoredDocument>,
  joins: readonly PlannedJoin[],
  reading: PageReading,
): AsyncGenerator<ReadDocument> {
  let batch: StoredDocument[] = []
  for await (const document of documents) {
    if (batch.push(document) < BATCH) continue
    yield* filled(batch, joins, reading)
    batch = []
  }
  yield* filled(batch, joins, reading)
}

async function* filled(
  batch: readonly StoredDocument[],
  joins: readonly PlannedJoin[],
  reading: PageReading,
): AsyncGenerator<ReadDocument> {
  // Memory is counted anew for each batch, because the previous batch has been released.
  const together = sharing(reading)
  const holders = await together.shared.timeSlice.finish(holdersOf(batch, joins, together.shared))
  await readSeparately(joins, holders, together)
  for (const [i, document] of batch.entries()) yield [document, holders[i]!.joinedSets]
}
