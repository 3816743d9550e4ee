/** The documents of a find with all that references join: in one statement, or from each datasource in its turn. */
import type { GoesAlong } from '../plan/joins.ts'
import type { FindPlan } from '../plan/read.ts'
import type { ReadPlan, StoredDocument } from '../plan/plan.ts'
import type { Schema } from '../schema/schema.ts'
import type { Found } from '../store/store.ts'
import type { Deps } from './deps.ts'
import type { Slot } from './joined-tree.ts'
import { hasApart, holderOf, readApart } from './read-joined.ts'
import { type Reading, settle } from './settle.ts'

export type Take = (document: StoredDocument, slots?: readonly Slot[]) => void
export type PageReading = Reading & { readonly schema: Schema }

/** Whether one statement of a store can read documents of both. */
export function goesAlong({ storeOf }: Pick<Deps, 'storeOf'>): GoesAlong {
  return ({ schema, query }, holder) =>
    schema.collection.datasource === holder.datasource && storeOf(schema).answers(query)
}

export async function readPage(plan: FindPlan, reading: PageReading, take: Take): Promise<Found> {
  const { read, joins } = plan
  const { deps, schema, bounds } = reading
  if (!joins) return await deps.storeOf(schema).find(read, take, bounds)
  if (!hasApart(joins)) return await readMatches(read, reading, take)
  const documents: StoredDocument[] = []
  const found = await readMatches(read, reading, (document) => documents.push(document))
  const holders = documents.map((document) => holderOf(document, joins))
  await readApart(joins, holders, reading)
  documents.forEach((document, i) => take(document, holders[i]!.slots))
  return found
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
  const { isMatch, ...settled } = await settle(read, schema, reading)
  if (!isMatch) return await deps.storeOf(schema).find(settled.read, take, bounds)
  let matchCount = 0
  const look = (document: StoredDocument): void => {
    if (!isMatch(document)) return
    const isOnPage = matchCount >= read.from && matchCount <= (read.to ?? Infinity)
    matchCount++
    if (isOnPage) take(document)
  }
  await deps.storeOf(schema).find(unbounded(settled.read), look, bounds)
  return { matchCount: read.counted ? matchCount : 0 }
}

export function unbounded(read: ReadPlan): ReadPlan {
  const { to: _, ...open } = read
  return { ...open, from: 0, counted: false }
}
