/**
 * Follows events: yields all events visible to a caller from a number on, as they arrive, until the caller
 * disconnects.
 */
import type { EventSelection } from './events-request.ts'
import {
  type EventReader,
  type EventDeps,
  type EventSource,
  type EventSources,
  batchesOf,
  interestOf,
} from './source.ts'
import type { Caller } from '../../access/caller.ts'
import type { EventHead } from '../../store/events.ts'
import type { FollowedEvents } from '../service.ts'

interface FollowOptions extends EventSelection {
  readonly ending: AbortSignal
}

/** Fails if the first read fails; a later failure ends the iteration. */
export async function followEvents(
  { deps, sources }: { readonly deps: EventDeps; readonly sources: EventSources },
  caller: Caller,
  following: FollowOptions,
): Promise<AsyncIterable<FollowedEvents>> {
  const source = sources.for(following)
  const { first, last } = await source.store.eventBounds()
  const { since = last, filter, ending } = following
  // A position that cannot be resumed is refused before the response begins.
  if (since < first - 1 || since > last) await source.log.after(since, caller.principal)
  return follow(deps, { source, caller, filter, ending }, since)
}

interface Follower extends EventReader {
  readonly source: EventSource
  readonly ending: AbortSignal
}

/** How often a follower without events receives the current position in the log. */
const POSITION_MS = 5_000

/**
 * The first item is the starting position. Visibility is checked again for every event. A position is the
 * number of an event that is visible to this caller, the end of a region, or the end of the log, so that
 * hidden events never influence it.
 */
async function* follow(deps: EventDeps, follower: Follower, since: number): AsyncGenerator<FollowedEvents> {
  const { source, caller, ending } = follower
  using _joined = source.hub.join()
  const interest = interestOf(deps, follower)
  let position = since
  yield { events: [], position }
  while (!ending.aborted) {
    const { heads, to } = await source.after(position, caller)
    if (to === position) {
      const wait = { signals: [ending], timeoutMs: POSITION_MS, interest }
      const reached = await source.hub.newsAfter(position, wait)
      if (reached === undefined) return
      if (reached === position) continue
      position = reached
    } else {
      yield* seenOf(await source.choose(heads, follower), follower)
      position = to
    }
    yield { events: [], position }
  }
}

/** Each batch keeps its share of memory until the consumer requests the next one, that is, until it has been sent. */
async function* seenOf(
  heads: readonly EventHead[],
  { source, caller, ending }: Follower,
): AsyncGenerator<FollowedEvents> {
  for (const batch of batchesOf(heads)) {
    const bytes = batch.reduce((sum, head) => sum + head.bytes, 0)
    using share = await source.shares.reserve(caller.principal, bytes, ending)
    if (!share) return
    const texts = await source
      .textsOf(batch, caller, () => ending)
      .catch((error: unknown) => {
        if (!ending.aborted) throw error
      })
    if (!texts) return
    const events = batch.map(({ seq }, i) => ({ seq, text: texts[i]! })).filter(({ text }) => text !== '')
    if (events.length > 0) yield { events, position: events.at(-1)!.seq }
  }
}
