/** The documents of a find with all that references join: in one statement, or from each datasource in its turn. */
import type { Turns } from '../../lang/evaluate/time-slice.ts'
import type { GoesAlong } from '../../plan/joins.ts'
import type { FindPlan } from '../../plan/read.ts'
import type { ReadPlan, StoredDocument } from '../../plan/plan.ts'
import { shapeOf } from '../../plan/template.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Found } from '../../store/store.ts'
import { isAnswered } from './pushdown.ts'
import type { Deps } from '../deps.ts'
import { type Slot, hasApart } from './embed/joined-tree.ts'
import { holdersOf, readApart } from './embed/read-joined.ts'
import { type Reading, sharing } from './read-context.ts'
import { settle, sizeOf } from './embed/remote-joins.ts'
import { tooLargeToHold } from '../memory-limits.ts'
import { visit } from './scan.ts'

export type Take = (document: StoredDocument, slots?: readonly Slot[]) => void
export type PageReading = Reading & { readonly schema: Schema }

/** Whether one statement of a store can read documents of both; inside a transaction that is no other question. */
export function goesAlong({ storeIn }: Pick<Deps, 'storeIn'>): GoesAlong {
  return ({ schema, query }, { datasource }) =>
    schema.collection.datasource === datasource && storeIn(datasource).answers(query)
}

export async function readPage(plan: FindPlan, reading: PageReading, take: Take): Promise<Found> {
  const { read, joins } = plan
  const { deps, schema, bounds } = reading
  if (!joins) return await deps.storeOf(schema).find(read, take, bounds)
  if (!hasApart(joins)) return await readMatches(read, reading, take)
  const together = { ...sharing(reading), schema }
  const { patience, held } = together.shared
  const documents: StoredDocument[] = []
  const found = await readMatches(read, together, (document) => {
    held.hold(sizeOf(document), () => tooLargeToHold(schema, held))
    documents.push(document)
  })
  const holders = await patience.finish(holdersOf(documents, joins, together.shared))
  await readApart(joins, holders, together)
  await patience.finish(
    inTurns(documents.keys(), patience.isTurnOver, (i) => take(documents[i]!, holders[i]!.slots)),
  )
  return found
}

function* inTurns<T>(items: Iterable<T>, isTurnOver: () => boolean, work: (item: T) => void): Turns<void> {
  for (const item of items) {
    if (isTurnOver()) yield
    work(item)
  }
}

/** How many documents a find matches, whatever its page. */
export async function countMatches({ read }: FindPlan, reading: PageReading): Promise<number> {
  const { joins: _, ...alone } = read
  const { matchCount } = await readMatches({ ...alone, from: 0, to: -1 }, reading, () => undefined)
  return matchCount
}

/** Where no store can answer all of the query, every document that may match is looked at, and the page cut out here. */
async function readMatches(
  read: ReadPlan,
  reading: PageReading,
  take: (document: StoredDocument) => void,
): Promise<Found> {
  const { deps, schema, bounds } = reading
  const { query } = shapeOf(read)
  if (!query || isAnswered(query, schema, deps)) return await deps.storeOf(schema).find(read, take, bounds)
  const together = sharing(reading)
  const { isMatch, ...settled } = await settle(read, schema, together)
  if (!isMatch) return await deps.storeOf(schema).find(settled.read, take, bounds)
  let matchCount = 0
  await visit(unbounded(settled.read), { schema, reading: together }, function* (document) {
    if (!(yield* isMatch(document))) return
    const isOnPage = matchCount >= read.from && matchCount <= (read.to ?? Infinity)
    matchCount++
    if (isOnPage) take(document)
  })
  return { matchCount: read.counted ? matchCount : 0 }
}

export function unbounded(read: ReadPlan): ReadPlan {
  const { to: _, ...open } = read
  return { ...open, from: 0, counted: false }
}
