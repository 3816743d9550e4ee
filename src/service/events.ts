/** Reading events: a page of those that a caller may see, oldest first; where there is none yet, after a wait. */
import type { Caller } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'
import { type EventsPageRequest, readEventsPage, readFollowing } from './events-request.ts'
import {
  type EventDeps,
  type EventSource,
  type EventSources,
  createEventSources,
  readStretch,
} from './events-source.ts'
import { eventTextFor } from './events-view.ts'
import { followEvents } from './follow-events.ts'
import type { JsonText } from './response.ts'
import type { EventPage, EventService, Waiting } from './service.ts'

export function eventService(deps: EventDeps): EventService & AsyncDisposable {
  const sources = createEventSources(deps)
  return {
    read: (caller, parameters, waiting = {}) =>
      readEvents({ deps, sources }, caller, { ...readEventsPage(parameters), ...waiting }),
    follow: (caller, { parameters, lastEventId, ending }) =>
      followEvents({ deps, sources }, caller, { ...readFollowing(parameters, lastEventId), ending }),
    [Symbol.asyncDispose]: () => sources[Symbol.asyncDispose](),
  }
}

interface Reading {
  readonly deps: EventDeps
  readonly sources: EventSources
}

async function readEvents(
  { deps, sources }: Reading,
  caller: Caller,
  request: EventsPageRequest & Waiting,
): Promise<EventPage> {
  const source = sources.for(request)
  const first = await readFirstPage(deps, { source, caller }, request)
  if (first.events.length > 0 || request.waitMs === 0) return first
  return await waitForPage(deps, { source, caller }, { ...request, since: first.next })
}

interface Reader {
  readonly source: EventSource
  readonly caller: Caller
}

type PageRequest = EventsPageRequest & { readonly since: number }

/** Whoever does not say where begins with the oldest event, though that may go at the same moment. */
async function readFirstPage(
  deps: EventDeps,
  reader: Reader,
  request: EventsPageRequest,
): Promise<EventPage> {
  if (request.since !== undefined) return await readPage(deps, reader, { ...request, since: request.since })
  for (let tries = 1; ; tries++) {
    const { first } = await reader.source.store.eventBounds()
    try {
      return await readPage(deps, reader, { ...request, since: first - 1 })
    } catch (error) {
      if (!isGone(error) || tries === MOST_TRIES) throw error
    }
  }
}

const MOST_TRIES = 10

function isGone(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'crud:EventsGone'
}

async function waitForPage(
  deps: EventDeps,
  reader: Reader,
  request: PageRequest & Waiting,
): Promise<EventPage> {
  const { hub } = reader.source
  const deadline = performance.now() + request.waitMs
  const hungUp = request.hangUp?.()
  const signals = [hungUp, request.ending].filter((signal) => signal !== undefined)
  using _joined = hub.join()
  let page: EventPage = { events: [], next: request.since }
  for (;;) {
    const timeoutMs = Math.max(0, deadline - performance.now())
    if (!(await hub.newsAfter(page.next, { timeoutMs, signals }))) return page
    if (hungUp?.aborted) throw new ServiceError('crud:Unavailable', 'the caller hung up')
    page = await readPage(deps, reader, { ...request, since: page.next })
    const isOver = performance.now() >= deadline || request.ending?.aborted
    if (page.events.length > 0 || isOver) return page
  }
}

/** How much is looked at for one page, so that events which the caller does not see cost nobody much. */
const LEAST_AT_A_TIME = 100
const MOST_READS = 50
/** So many are made without letting others have their turn. */
const AT_ONCE = 100

async function readPage(
  deps: EventDeps,
  { source, caller }: Reader,
  { limit, filter, since }: PageRequest,
): Promise<EventPage> {
  const { resultBytes, queryTimeMs } = deps.limits
  const events: JsonText[] = []
  let next = since
  let characters = 0
  for (let reads = 0; reads < MOST_READS; reads++) {
    const stretch = { since: next, limit: Math.max(limit, LEAST_AT_A_TIME), filter }
    const read = await readStretch(source, stretch, queryTimeMs).catch((error: unknown) => {
      if (events.length === 0 || !isGone(error)) throw error
    })
    // what went meanwhile is told of when the caller goes on from here
    if (!read) break
    for (const [i, kept] of read.events.entries()) {
      if (i % AT_ONCE === AT_ONCE - 1) await new Promise(setImmediate)
      const text = eventTextFor(deps, kept, caller)
      if (text === undefined) continue
      // one alone is told however large it is, since nobody could go on otherwise
      if (events.length > 0 && characters + text.length > resultBytes) return { events, next }
      events.push(text)
      characters += text.length
      next = kept.seq
      if (events.length === limit) return { events, next }
    }
    next = read.scannedTo
    if (read.isAll) break
  }
  return { events, next }
}
