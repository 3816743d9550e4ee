/** Following events: all that a caller may see from a number on, as they come, for as long as the caller listens. */
import type { Caller } from '../access/caller.ts'
import { isWanted } from '../store/event-window.ts'
import type { EventFilter } from '../store/events.ts'
import type { EventSelection } from './events-request.ts'
import { type EventDeps, type EventSource, type EventSources, readStretch } from './events-source.ts'
import { sharedEventTextFor } from './events-view.ts'
import type { FollowedEvents } from './service.ts'

interface Following extends EventSelection {
  readonly ending: AbortSignal
}

/** What fails before the first event fails here; what fails later ends the iteration. */
export async function followEvents(
  { deps, sources }: { readonly deps: EventDeps; readonly sources: EventSources },
  caller: Caller,
  following: Following,
): Promise<AsyncIterable<FollowedEvents>> {
  const source = sources.for(following)
  const { first, last } = await source.store.eventBounds()
  const { since = last, filter, ending } = following
  // whoever cannot go on is told before the answer begins
  if (since < first - 1 || since > last) {
    await readStretch(source, { since, limit: 1, filter }, deps.limits.queryTimeMs)
  }
  return follow(deps, { source, caller, filter, ending }, since)
}

interface Follower {
  readonly source: EventSource
  readonly caller: Caller
  readonly filter: EventFilter
  readonly ending: AbortSignal
}

const BATCH = 100

/** The first tells where it begins. Who sees what is asked anew for every event. */
async function* follow(deps: EventDeps, follower: Follower, since: number): AsyncGenerator<FollowedEvents> {
  const { source, caller, filter, ending } = follower
  using _joined = source.hub.join()
  let position = since
  yield { events: [], position }
  while (!ending.aborted) {
    const { events: found, scannedTo } = await nextAfter(deps, follower, position)
    if (scannedTo === position) {
      if (!(await source.hub.newsAfter(position, { signals: [ending] }))) return
      continue
    }
    position = scannedTo
    const events = found.flatMap((kept) => {
      const text = isWanted(filter, kept) ? sharedEventTextFor(deps, kept, caller) : undefined
      return text === undefined ? [] : [{ seq: kept.seq, text }]
    })
    yield { events, position }
  }
}

/** From what is shared, or by a read of one's own for whoever is behind. */
async function nextAfter(deps: EventDeps, { source, filter }: Follower, position: number) {
  const newest = source.hub.newestAfter(position)
  if (!newest) {
    return await readStretch(source, { since: position, limit: BATCH, filter }, deps.limits.queryTimeMs)
  }
  const events = newest.events.slice(0, BATCH)
  return events.length < newest.events.length ? { events, scannedTo: events.at(-1)!.seq } : newest
}
