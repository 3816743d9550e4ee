/** Where events are read: a datasource with the one who reads its newest events for all. */
import { ServiceError } from '../base/errors.ts'
import type { EventStore, KeptEvents } from '../store/events.ts'
import type { Deps } from './deps.ts'
import { EventHub } from './events-hub.ts'
import type { EventSelection } from './events-request.ts'

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
}

export interface EventSources extends AsyncDisposable {
  for(selection: EventSelection): EventSource
}

export function createEventSources({
  stores,
  datasourceOf,
  limits,
  onInternalError,
}: EventDeps): EventSources {
  const options = { timeLimitMs: limits.queryTimeMs, onInternalError }
  const opened = new Map<string, EventSource>()
  /** Nothing listens for events that nobody asked for. */
  const sourceIn = (name: string, store: EventStore): EventSource => {
    const source = opened.get(name) ?? { store, hub: new EventHub(store, options) }
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

export interface Stretch {
  readonly since: number
  readonly limit: number
  readonly filter: EventSelection['filter']
}

interface ReadStretch extends KeptEvents {
  /** Whether there was nothing more after these. */
  readonly isAll: boolean
}

/**
 * The next events; fails where some that came after `since` are not kept any more. That is asked afterwards: events
 * that go while others are read would be missing without anybody knowing.
 */
export async function readStretch(
  { store }: EventSource,
  stretch: Stretch,
  timeLimitMs: number,
): Promise<ReadStretch> {
  const found = await store.readEvents(stretch, { timeLimitMs })
  const { first, last } = await store.eventBounds()
  const { since } = stretch
  if (since < first - 1) throw eventsGone(first)
  if (since > last) throw invalid(`"since" is after the newest event, whose number is ${last}`)
  // others have their turn, since a store may answer without leaving its thread
  await new Promise(setImmediate)
  return { ...found, isAll: found.scannedTo >= last }
}

function eventsGone(first: number): ServiceError {
  return new ServiceError(
    'crud:EventsGone',
    `events after "since" are not kept any more; the oldest that is kept has the number ${first}, so go on with since=${first - 1} and take the documents as they are now`,
  )
}

function invalid(message: string): ServiceError {
  return new ServiceError('crud:InvalidRequest', message)
}
