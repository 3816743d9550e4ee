/**
 * Reads a page of the events that are visible to a caller, oldest first. If there are none yet, it can wait
 * for one.
 */
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import { memoized } from '../../base/memo.ts'
import type { EventStore } from '../../store/events.ts'
import { type EventsPageRequest, readEventsPage, readFollowing } from './events-request.ts'
import { EventLog, isGone } from './log.ts'
import {
  type EventDeps,
  type EventSource,
  type EventSources,
  batchesOf,
  createEventSources,
  interestOf,
} from './source.ts'
import { followEvents } from './follow.ts'
import { createEventTexts } from './view.ts'
import type { JsonText } from '../response.ts'
import type { EventPage, EventService, RenderEvent, Waiting } from '../service.ts'

export function eventService(deps: EventDeps): EventService & AsyncDisposable {
  let renderLarge: RenderEvent | undefined
  const sources = createEventSources(deps, () => renderLarge)
  return {
    render: eventRenderer(deps),
    renderLargeBy: (render) => (renderLarge = render),
    read: (caller, parameters, waiting = {}) =>
      readEvents({ deps, sources }, caller, { ...readEventsPage(parameters), ...waiting }),
    follow: (caller, { parameters, lastEventId, ending }) =>
      followEvents({ deps, sources }, caller, { ...readFollowing(parameters, lastEventId), ending }),
    [Symbol.asyncDispose]: () => sources[Symbol.asyncDispose](),
  }
}

/** Without a source of events, whose hub listens for new ones: a worker thread needs none. */
function eventRenderer(deps: EventDeps): RenderEvent {
  const texts = createEventTexts(deps)
  const logOf = memoized((store: EventStore) => new EventLog(store, deps.limits.queryTimeMs))
  return async ({ datasource, seq }, caller) => {
    const log = logOf(deps.stores.get(datasource)!)
    const { heads } = await log.after(seq - 1, caller.principal)
    const head = heads.find((each) => each.seq === seq)
    if (!head) throw new Error(`there is no event ${seq}`)
    const states = await log.statesOf([head], caller.principal)
    return { text: texts.make(head, states.get(head.holder)!, caller), epoch: deps.epoch() }
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

type PageRequest = EventsPageRequest & Pick<Waiting, 'getSignal'> & { readonly since: number }

/**
 * Without `since`, the page begins with the oldest event. Retention may trim that event meanwhile, so the
 * read is retried.
 */
async function readFirstPage(
  deps: EventDeps,
  reader: Reader,
  request: EventsPageRequest & Pick<Waiting, 'getSignal'>,
): Promise<EventPage> {
  if (request.since !== undefined) return await readPage(deps, reader, { ...request, since: request.since })
  for (let tries = 1; ; tries++) {
    const { first } = await reader.source.store.eventBounds()
    try {
      return await readPage(deps, reader, { ...request, since: first - 1 })
    } catch (error) {
      if (!isGone(error) || tries === MAX_TRIES) throw error
    }
  }
}

const MAX_TRIES = 10

async function waitForPage(
  deps: EventDeps,
  reader: Reader,
  request: PageRequest & Waiting,
): Promise<EventPage> {
  const { hub } = reader.source
  const deadline = performance.now() + request.waitMs
  const callerLeft = request.getSignal?.()
  const signals = [callerLeft, request.ending].filter((signal) => signal !== undefined)
  const interest = interestOf(deps, { ...reader, filter: request.filter })
  using _joined = hub.join()
  for (let next = request.since; ;) {
    const timeoutMs = Math.max(0, deadline - performance.now())
    const reached = await hub.newsAfter(next, { timeoutMs, signals, interest })
    if (reached === undefined) return { events: [], next }
    if (callerLeft?.aborted) throw new ServiceError('crud:Unavailable', 'the caller hung up')
    const page = await readPage(deps, reader, { ...request, since: reached })
    const isOver = performance.now() >= deadline || request.ending?.aborted
    if (page.events.length > 0 || isOver) return page
    next = page.next
  }
}

/** A page ends with the event that reaches this size; the next page continues there. */
const PAGE_CHARACTERS = 4 * 1024 * 1024

/**
 * Scans a range of numbers that depends on `since` and `limit` only. If the page is not full, `next` is the
 * end of that range or of the log, otherwise the number of its last event. So `next` reveals nothing about
 * events that are hidden from the caller: neither how many of them match the filter nor how large they are.
 */
async function readPage(
  deps: EventDeps,
  { source, caller }: Reader,
  { limit, filter, since, getSignal }: PageRequest,
): Promise<EventPage> {
  const maxCharacters = Math.min(PAGE_CHARACTERS, deps.limits.resultBytes)
  const end = since + rangeFor(limit)
  const events: JsonText[] = []
  let next = since
  let characters = 0
  const deadline = performance.now() + deps.limits.queryTimeMs
  while (next < end) {
    if (performance.now() > deadline) {
      if (events.length > 0) break
      throw new ServiceError(
        'store-crud:Timeout',
        'there is too much to look at; ask again, or with a filter',
      )
    }
    const range = await source.after(next, caller).catch((error: unknown) => {
      if (events.length === 0 || !isGone(error)) throw error
    })
    // Events trimmed meanwhile are reported when the caller requests the next page.
    if (!range || range.to === next) break
    const heads = range.to <= end ? range.heads : range.heads.filter(({ seq }) => seq <= end)
    for (const batch of batchesOf(await source.choose(heads, { caller, filter }))) {
      for (const [i, text] of (await source.textsOf(batch, caller, getSignal)).entries()) {
        if (text === '') continue
        // A single event is returned whatever its size, because the caller could not get past it otherwise.
        if (events.length > 0 && characters + text.length > maxCharacters) return { events, next }
        events.push(text)
        characters += text.length
        next = batch[i]!.seq
        if (events.length === limit) return { events, next }
      }
    }
    next = Math.min(range.to, end)
  }
  return { events, next }
}

/** How many numbers one page scans: limits the cost of events that are hidden from the caller. */
function rangeFor(limit: number): number {
  return Math.min(Math.max(10 * limit, 1_000), 5_000)
}
