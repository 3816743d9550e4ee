/** Visits documents one by one, in time slices, so that their number does not block other requests. */
import type { Yielding } from '../../lang/evaluate/time-slice.ts'
import type { ReadPlan, StoredDocument } from '../../plan/plan.ts'
import type { Schema } from '../../schema/schema.ts'
import type { SharedReadContext } from './read-context.ts'
import { tooLargeToHold } from '../memory-limits.ts'

export type Look = (document: StoredDocument) => Yielding<void>

export interface Visiting {
  readonly schema: Schema
  readonly reading: SharedReadContext
}

export async function visit(read: ReadPlan, { schema, reading }: Visiting, look: Look): Promise<void> {
  const { deps, bounds, shared } = reading
  const session = deps.storeOf(schema)
  const store = deps.storeIn(schema.collection.datasource)
  if (session === store) {
    for await (const document of store.stream(read, bounds)) await shared.timeSlice.finish(look(document))
    return
  }
  // The session of a transaction cannot stream: it returns all documents at once.
  const documents: StoredDocument[] = []
  const take = (document: StoredDocument): void => {
    shared.held.hold(document.text.length, () => tooLargeToHold(schema, shared.held))
    documents.push(document)
  }
  await session.find(read, take, bounds)
  await shared.timeSlice.finish(oneByOne(documents, look))
}

function* oneByOne(documents: readonly StoredDocument[], look: Look): Yielding<void> {
  for (const document of documents) yield* look(document)
}
