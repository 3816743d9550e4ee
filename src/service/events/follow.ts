/** Following events: all that a caller may see from a number on, as they come, for as long as the caller listens. */
import type { EventSelection } from './events-request.ts'
import {
  type Asked,
  type EventDeps,
  type EventSource,
  type EventSources,
  batchesOf,
  interestOf,
} from './source.ts'
import type { Caller } from '../../access/caller.ts'
import type { EventHead } from '../../store/events.ts'
import type { FollowedEvents } from '../service.ts'

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
  if (since < first - 1 || since > last) await source.log.after(since, caller.principal)
  return follow(deps, { source, caller, filter, ending }, since)
}

interface Follower extends Asked {
  readonly source: EventSource
  readonly ending: AbortSignal
}

/** How late a follower to whom nothing is told learns how far the log has got. */
const POSITION_MS = 5_000

/**
 * The first tells where it begins. Who sees what is asked anew for every event. Positions are numbers of events that
 * this caller sees, ends of regions, or the end of the log: nothing that the caller may not see moves them.
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

/** Each batch has its memory until the next one is asked for, which is when it was sent. */
async function* seenOf(
  heads: readonly EventHead[],
  { source, caller, ending }: Follower,
): AsyncGenerator<FollowedEvents> {
  for (const batch of batchesOf(heads)) {
    const bytes = batch.reduce((sum, head) => sum + head.bytes, 0)
    using share = await source.shares.reserve(caller.principal, bytes, ending)
    if (!share) return
    const texts = await source.textsOf(batch, caller)
    const events = batch.map(({ seq }, i) => ({ seq, text: texts[i]! })).filter(({ text }) => text !== '')
    if (events.length > 0) yield { events, position: events.at(-1)!.seq }
  }
}
