/** Where events are read: a datasource with the one who reads its newest events for all. */
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import { isWanted } from '../../store/event-window.ts'
import type { EventFilter, EventHead, EventStore } from '../../store/events.ts'
import { ByteShares } from './memory-shares.ts'
import type { Deps } from '../deps.ts'
import { EventScheduler, type Work } from './scheduler.ts'
import { EventHub, type Interest } from './hub.ts'
import { EventLog, type Stretch, kindsOf } from './log.ts'
import type { EventSelection } from './events-request.ts'
import { createEventTexts, mayBeSeen } from './view.ts'
import type { JsonText } from '../response.ts'

/** What reading events needs besides what all operations need. */
export interface EventDeps extends Pick<Deps, 'schemaOf' | 'limits' | 'now' | 'onInternalError'> {
  /** Where documents of the entity are; throws where there is no such entity. */
  readonly datasourceOf: (entity: string) => string
  /** By name, the default one first. */
  readonly stores: ReadonlyMap<string, EventStore>
}

export interface EventSource {
  readonly store: EventStore
  readonly hub: EventHub
  readonly log: EventLog
  /** The next events after a number, from what is shared by all who follow or else from the log. */
  readonly after: (position: number, caller: Caller) => Promise<Stretch>
  /** Which of these events a caller who asks for this may see something of; documents are not looked at. */
  readonly choose: (heads: readonly EventHead[], asked: Asked) => Promise<readonly EventHead[]>
  /** What the caller sees of these events; empty texts where that is nothing. */
  readonly textsOf: (heads: readonly EventHead[], caller: Caller) => Promise<readonly JsonText[]>
  /** Memory for what is on its way to followers. */
  readonly shares: ByteShares
}

/** Who asks, and for which events. */
export interface Asked {
  readonly caller: Caller
  readonly filter: EventFilter
}

/** What waits to be sent to followers: of all of them together, and of those of one caller. */
const UNSENT_BYTES = { all: 64 * 1024 * 1024, perCaller: 16 * 1024 * 1024 }

function createSource(store: EventStore, deps: EventDeps): EventSource {
  const { limits, onInternalError } = deps
  const timeLimitMs = limits.queryTimeMs
  const hub = new EventHub(store, { timeLimitMs, onInternalError })
  const log = new EventLog(store, timeLimitMs)
  const texts = createEventTexts(deps)
  const turns = new EventScheduler()
  return {
    store,
    hub,
    log,
    after: async (position, { principal }) =>
      hub.newestAfter(position) ?? (await log.after(position, principal)),
    async choose(heads, asked) {
      const isChosen = isFor(deps, asked)
      if (turns.admitsQuick() && !kindsOf(heads).some(isChosen)) return []
      return await turns.run(asked.caller.principal, chosen(heads, isChosen))
    },
    async textsOf(heads, caller) {
      const known = heads.map((head) => texts.known(head, caller))
      const missing = heads.filter((_, i) => known[i] === undefined)
      const states = await log.statesOf(missing, caller.principal)
      const make = (head: EventHead): JsonText => texts.make(head, states.get(head.holder)!, caller)
      return await turns.run(caller.principal, made(heads, known, make))
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

/** Events of one kind are all for somebody, or none of them is. */
function isFor(deps: EventDeps, { caller, filter }: Asked): (head: EventHead) => boolean {
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

/** What somebody waits for who asks for this; the same for all with the same roles. */
export function interestOf(deps: EventDeps, asked: Asked): Interest {
  const { entity, hook, operation } = asked.filter
  return {
    key: JSON.stringify([entity, hook, operation, ...[...asked.caller.roles].sort()]),
    concerns: (heads) => heads.some(isFor(deps, asked)),
  }
}

/** So much of documents is read and made into events at a time, or else one event, however large it is. */
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

export function createEventSources(deps: EventDeps): EventSources {
  const { stores, datasourceOf } = deps
  const opened = new Map<string, EventSource>()
  /** Nothing listens for events that nobody asked for. */
  const sourceIn = (name: string, store: EventStore): EventSource => {
    const source = opened.get(name) ?? createSource(store, deps)
    opened.set(name, source)
    return source
  }
  const [first] = stores.keys()
  return {
    for({ filter: { entity }, datasource }) {
      const named = datasource ?? (entity === undefined ? first! : datasourceOf(entity))
      const store = stores.get(named)
      if (!store) throw invalid(`"datasource" must be one of ${[...stores.keys()].join(', ')}`)
      if (datasource !== undefined && entity !== undefined && datasourceOf(entity) !== datasource)
        throw invalid(`"datasource" must be that of the entity, or be left out`)
      return sourceIn(named, store)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.values().map(({ hub }) => hub[Symbol.asyncDispose]()))
    },
  }
}

function invalid(message: string): ServiceError {
  return new ServiceError('crud:InvalidRequest', message)
}
