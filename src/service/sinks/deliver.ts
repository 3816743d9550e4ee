/** Delivers events to the sinks of each datasource while the service is open. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError, isUnavailable } from '../../base/errors.ts'
import { openTransport, printDefinition } from '../../sinks/definition.ts'
import { startDeliverer } from '../../sinks/delivery/deliverer.ts'
import type { Overview } from '../../sinks/delivery/delivery-state.ts'
import type { Observer } from '../../sinks/observer.ts'
import type { Database } from '../../store/database.ts'
import type { Deps } from '../deps.ts'
import type { SinkRendering } from './rendering.ts'
import type { SinkDatasources } from './sink-datasources.ts'
import type { EventSettings, PlacedSink } from './sink-settings.ts'
import { createSink, replaceSink, untilReplaced } from './sinks.ts'

export interface DeliveryDeps extends Pick<Deps, 'limits' | 'now' | 'onInternalError'> {
  readonly stores: ReadonlyMap<string, Database>
  readonly places: SinkDatasources
  readonly settings: EventSettings
  readonly rendering: Pick<SinkRendering, 'renderEvent'>
  /** Receives figures for metrics. */
  readonly sinkMeter?: SinkMeter
}

/** Counts deliveries and failures, and reports the state of sinks. */
export interface SinkMeter {
  delivered(sink: string, seconds: number): void
  failed(sink: string): void
  state(sink: string, state: SinkState): void
  /** This process no longer delivers to the sink: another process does, or none. */
  left(sink: string): void
}

export interface SinkState {
  /**
   * An upper bound of the undelivered events: it includes events that were not checked yet, which may be for
   * other sinks.
   */
  readonly depth: number
  /** Time of the oldest undelivered event; milliseconds since 1970. */
  readonly oldestAt: number | undefined
  readonly dead: number
}

export function startDelivery(deps: DeliveryDeps): AsyncDisposable {
  const { allowPrivateAddresses = false } = deps.settings
  const started = new AsyncDisposableStack()
  for (const store of deps.stores.values()) {
    const deliverer = startDeliverer({
      store: store.sinks,
      readEvents: (request) => store.events.readEvents(request, { timeLimitMs: deps.limits.queryTimeMs }),
      renderEvent: deps.rendering.renderEvent,
      openTransport: (definition) => openTransport(definition, { allowPrivateAddresses }),
      observer: observing(deps, store),
      now: () => deps.now().getTime(),
      // Without other processes nothing waits for a lease to expire, so it can be long.
      ...(!store.isShared && { ttlMs: 60_000 }),
    })
    started.use(deliverer)
    store.events.onEvents(() => deliverer.wake())
  }
  started.use(makeConfigured(deps))
  return started
}

/** An error that repeats every second is logged once a minute. */
const QUIET_MS = 60_000
const MAX_REMEMBERED = 100

function observing({ sinkMeter, onInternalError }: DeliveryDeps, store: Database): Observer {
  const deliveredAt = new Map<string, number>()
  const error: Observer['error'] = (problem, sink) => {
    // An unreachable store is visible in responses.
    if (isUnavailable(problem)) return
    const what = `${sink ?? ''} ${String(problem)}`
    if (performance.now() - (deliveredAt.get(what) ?? -Infinity) < QUIET_MS) return
    if (deliveredAt.size >= MAX_REMEMBERED) deliveredAt.clear()
    deliveredAt.set(what, performance.now())
    onInternalError(
      sink === undefined ? problem : new Error(`delivering to ${sink} failed`, { cause: problem }),
    )
  }
  if (!sinkMeter) return { error }
  const delivering = new Set<string>()
  const measureDepth = async (
    sink: string,
    { position, undelivered, oldestAt, dead }: Overview,
  ): Promise<void> => {
    const { last } = await store.events.eventBounds()
    const depth = Math.max(undelivered, last - position)
    if (delivering.has(sink)) sinkMeter.state(sink, { depth, oldestAt, dead })
  }
  return {
    error,
    delivered: (sink, seconds) => sinkMeter.delivered(sink, seconds),
    failed: (sink) => sinkMeter.failed(sink),
    state: (sink, overview) => {
      delivering.add(sink)
      measureDepth(sink, overview).catch(error)
    },
    left: (sink) => {
      delivering.delete(sink)
      sinkMeter.left(sink)
    },
  }
}

const RETRY_MS = 1_000

/**
 * Retried until it succeeds: the store may be unreachable, and the entity that determines the datasource may
 * be defined later.
 */
function makeConfigured({
  places,
  settings: { sinks = [] },
  onInternalError,
}: DeliveryDeps): AsyncDisposable {
  const ending = new AbortController()
  const make = async (sink: PlacedSink): Promise<void> => {
    for (let lastReported = ''; !ending.signal.aborted;) {
      try {
        await untilReplaced(() => ensureSink(places, sink))
        return
      } catch (error) {
        if (String(error) !== lastReported) onInternalError(error)
        lastReported = String(error)
        await sleep(RETRY_MS, undefined, { signal: ending.signal }).catch(() => undefined)
      }
    }
  }
  const made = Promise.all(sinks.map(make))
  return {
    async [Symbol.asyncDispose]() {
      ending.abort()
      await made
    },
  }
}

/** Returns false if others changed the sink meanwhile. */
async function ensureSink(places: SinkDatasources, sink: PlacedSink): Promise<boolean> {
  const found = await places.find(sink.definition.name)
  if (!found) {
    await createSink(places, sink).catch(unlessOvertaken)
    return true
  }
  const { definition, progress } = found.record
  // A disabled one is enabled by replacing it, and the API cannot replace a configured one.
  if (definition === printDefinition(sink.definition) && !progress.isDisabled) return true
  return await replaceSink(places, found, sink)
}

/** If several processes start at once, one of them creates the sink, and that is not an error for the others. */
function unlessOvertaken(error: unknown): void {
  if (!(error instanceof ServiceError && error.code === 'crud:DuplicateSink')) throw error
}

/** The number up to which all sinks have received events; undefined without sinks. */
export async function deliveredUpTo(
  { sinks }: Pick<Database, 'sinks'>,
  { areDisabledCounted }: { readonly areDisabledCounted: boolean },
): Promise<number | undefined> {
  const counted = (await sinks.list()).filter(({ progress }) => areDisabledCounted || !progress.isDisabled)
  return counted.length === 0 ? undefined : Math.min(...counted.map(({ progress }) => progress.position))
}
