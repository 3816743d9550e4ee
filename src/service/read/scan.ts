/** Visits documents one by one, in time slices, so that their number does not block other requests. */
import type { Yielding } from '../../lang/evaluate/time-slice.ts'
import type { ReadPlan, StoredDocument } from '../../plan/plan.ts'
import type { Schema } from '../../schema/schema.ts'
import type { SharedReadContext } from './read-context.ts'
import { tooLargeToHold } from '../memory-limits.ts'

/** Returns false to end the visit. */
export type Visit = (document: StoredDocument) => Yielding<boolean>

export interface VisitContext {
  readonly schema: Schema
  readonly reading: SharedReadContext
}

export async function visit(
  read: ReadPlan,
  { schema, reading }: VisitContext,
  visitDocument: Visit,
): Promise<void> {
  const { deps, bounds, shared } = reading
  const session = deps.storeOf(schema)
  const store = deps.storeIn(schema.collection.datasource)
  if (session === store) {
    for await (const document of store.stream(read, bounds))
      if (!(await shared.timeSlice.finish(visitDocument(document)))) return
    return
  }
  // The session of a transaction cannot stream: it returns all documents at once.
  const documents: StoredDocument[] = []
  const take = (document: StoredDocument): void => {
    shared.held.hold(document.text.length, () => tooLargeToHold(schema, shared.held))
    documents.push(document)
  }
  await session.find(read, take, bounds)
  await shared.timeSlice.finish(visitEach(documents, visitDocument))
}

function* visitEach(documents: readonly StoredDocument[], visitDocument: Visit): Yielding<void> {
  for (const document of documents) if (!(yield* visitDocument(document))) return
}

/** The same read without a page. */
export function unbounded(read: ReadPlan): ReadPlan {
  const { to: _, ...open } = read
  return { ...open, from: 0, counted: false }
}

/** The same read in the order of `_id`, from the first document on. */
export function unsorted(read: ReadPlan): ReadPlan {
  const { after: _after, withSources: _sources, ...rest } = read
  return { ...rest, sort: [] }
}
