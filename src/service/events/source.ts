/** An event source: a datasource with the hub, log and caches that all readers of its events share. */
import type { Caller } from '../../access/caller.ts'
import { invalidRequest } from '../../base/errors.ts'
import { isWanted } from '../../store/event-window.ts'
import type { EventFilter, EventHead, EventStore } from '../../store/events.ts'
import { ByteShares } from './memory-shares.ts'
import type { Deps, GetSignal } from '../deps.ts'
import { EventScheduler, type Work } from './scheduler.ts'
import { EventHub, type Interest } from './hub.ts'
import { EventLog, type EventRange, kindsOf } from './log.ts'
import type { EventSelection } from './events-request.ts'
import { LARGE_BYTES, createEventTexts, mayBeSeen } from './view.ts'
import type { JsonText } from '../response.ts'
import type { RenderEvent, RenderedEvent } from '../service.ts'

/** Dependencies for reading events. */
export interface EventDeps extends Pick<Deps, 'schemaOf' | 'limits' | 'now' | 'onInternalError'> {
  /** Of the metadata in use. */
  readonly epoch: () => number
  /** Datasource of the entity; throws if the entity does not exist. */
  readonly datasourceOf: (entity: string) => string
  /** By name, the default one first. */
  readonly stores: ReadonlyMap<string, EventStore>
}

export interface EventSource {
  readonly store: EventStore
  readonly hub: EventHub
  readonly log: EventLog
  /** The next events after a number, from the hub's buffer or else from the log. */
  readonly after: (position: number, caller: Caller) => Promise<EventRange>
  /** The events that match the filter and may be visible to the caller, decided without their documents. */
  readonly choose: (heads: readonly EventHead[], reader: EventReader) => Promise<readonly EventHead[]>
  /** The events as the caller sees them, as JSON; an empty text for an event that is not visible. */
  readonly textsOf: (
    heads: readonly EventHead[],
    caller: Caller,
    getSignal?: GetSignal,
  ) => Promise<readonly JsonText[]>
  /** Memory for events that are being sent to followers. */
  readonly shares: ByteShares
}

/** The reader and its filter. */
export interface EventReader {
  readonly caller: Caller
  readonly filter: EventFilter
}

/** Renders an event of the source in another thread. */
type RenderLarge = (head: EventHead, caller: Caller, signal: AbortSignal) => Promise<RenderedEvent>

/** Limits for events that wait to be sent to followers: in total, and per caller. */
const UNSENT_BYTES = { all: 64 * 1024 * 1024, perCaller: 16 * 1024 * 1024 }

function createSource(
  store: EventStore,
  deps: EventDeps,
  elsewhere: () => RenderLarge | undefined,
): EventSource {
  const { limits, onInternalError } = deps
  const timeLimitMs = limits.queryTimeMs
  const hub = new EventHub(store, { timeLimitMs, onInternalError })
  const log = new EventLog(store, timeLimitMs)
  const texts = createEventTexts(deps)
  const scheduler = new EventScheduler()
  return {
    store,
    hub,
    log,
    after: async (position, { principal }) =>
      hub.newestAfter(position) ?? (await log.after(position, principal)),
    async choose(heads, reader) {
      const isChosen = isFor(deps, reader)
      if (scheduler.admitsQuick() && !kindsOf(heads).some(isChosen)) return []
      return await scheduler.run(reader.caller.principal, chosen(heads, isChosen))
    },
    async textsOf(heads, caller, getSignal) {
      const known = heads.map((head) => texts.known(head, caller))
      const render = elsewhere()
      const [head] = heads
      // A large event makes a batch of its own.
      if (render && heads.length === 1 && known[0] === undefined && head!.bytes > LARGE_BYTES) {
        const reader = { caller, ...(getSignal && { left: getSignal() }) }
        const text = await texts.makeBy((signal) => render(head!, caller, signal), head!, reader)
        // All who waited for it get it at once, and sending it takes them long.
        return await scheduler.run(
          caller.principal,
          made(heads, [text], () => text),
        )
      }
      const missing = heads.filter((_, i) => known[i] === undefined)
      const states = await log.statesOf(missing, caller.principal)
      const make = (head: EventHead): JsonText => texts.make(head, states.get(head.holder)!, caller)
      return await scheduler.run(caller.principal, made(heads, known, make))
    },
    shares: new ByteShares(UNSENT_BYTES),
  }
}

function* chosen(
  heads: readonly EventHead[],
  isChosen: (head: EventHead) => boolean,
): Work<readonly EventHead[]> {
  const all: EventHead[] = []
  if (!kindsOf(heads).some(isChosen)) return all
  for (const head of heads) {
    if (isChosen(head)) all.push(head)
    yield
  }
  return all
}

function* made(
  heads: readonly EventHead[],
  known: readonly (JsonText | undefined)[],
  make: (head: EventHead) => JsonText,
): Work<readonly JsonText[]> {
  const all: JsonText[] = []
  for (const [i, head] of heads.entries()) {
    all.push(known[i] ?? make(head))
    yield
  }
  return all
}

/** Decided once per entity and version, because all events of that kind are visible to a caller, or none is. */
function isFor(deps: EventDeps, { caller, filter }: EventReader): (head: EventHead) => boolean {
  const known = new Map<string, boolean>()
  return (head) => {
    if (!isWanted(filter, head)) return false
    const { entity, details } = head
    const kind = `${entity}\n${details.slice(0, details.indexOf(','))}`
    const answer = known.get(kind) ?? mayBeSeen(deps, head, caller)
    known.set(kind, answer)
    return answer
  }
}

/** The interest of a reader. Readers with equal filters and roles share its key, and therefore a group. */
export function interestOf(deps: EventDeps, reader: EventReader): Interest {
  const { entity, hook, operation } = reader.filter
  return {
    key: JSON.stringify([entity, hook, operation, ...[...reader.caller.roles].sort()]),
    concerns: (heads) => heads.some(isFor(deps, reader)),
  }
}

/** How many bytes of documents are read and rendered at a time; a single larger event makes a batch of its own. */
const BATCH_BYTES = 64 * 1024
const BATCH_EVENTS = 100

export function* batchesOf(heads: readonly EventHead[]): Generator<readonly EventHead[]> {
  let batch: EventHead[] = []
  let bytes = 0
  for (const head of heads) {
    if (batch.length > 0 && (batch.length === BATCH_EVENTS || bytes + head.bytes > BATCH_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(head)
    bytes += head.bytes
  }
  if (batch.length > 0) yield batch
}

export interface EventSources extends AsyncDisposable {
  for(selection: EventSelection): EventSource
}

/** `elsewhere` returns what renders large events; undefined while this thread renders them. */
export function createEventSources(deps: EventDeps, elsewhere: () => RenderEvent | undefined): EventSources {
  const { stores, datasourceOf } = deps
  const opened = new Map<string, EventSource>()
  /** Opened on first use, so that nothing polls for events without readers. */
  const sourceIn = (name: string, store: EventStore): EventSource => {
    const renderLarge = (): RenderLarge | undefined => {
      const render = elsewhere()
      return render && (({ seq }, caller, signal) => render({ datasource: name, seq }, caller, signal))
    }
    const source = opened.get(name) ?? createSource(store, deps, renderLarge)
    opened.set(name, source)
    return source
  }
  const [first] = stores.keys()
  return {
    for({ filter: { entity }, datasource }) {
      const named = datasource ?? (entity === undefined ? first! : datasourceOf(entity))
      const store = stores.get(named)
      if (!store) throw invalidRequest(`"datasource" must be one of ${[...stores.keys()].join(', ')}`)
      if (datasource !== undefined && entity !== undefined && datasourceOf(entity) !== datasource)
        throw invalidRequest(`"datasource" must be that of the entity, or be left out`)
      return sourceIn(named, store)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.values().map(({ hub }) => hub[Symbol.asyncDispose]()))
    },
  }
}
