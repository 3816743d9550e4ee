/** Opens the whole service on its datasources: stores, metadata and operations, wired once. */
import { ServiceError } from '../base/errors.ts'
import type { Limits } from '../base/limits.ts'
import { maskLocation } from '../base/location.ts'
import type { Datasources } from '../metadata/documents/datastore.ts'
import { createRegistry } from '../metadata/registry.ts'
import { openStore } from '../store/open.ts'
import { LocationError } from '../store/postgres/connection/location.ts'
import { withSequencesOf } from '../store/shared-sequences.ts'
import type { Loan } from '../base/work/loan.ts'
import type { Database } from '../store/database.ts'
import { dataService } from './data.ts'
import { type DeliveryDeps, type SinkMeter, startDelivery, deliveredUpTo } from './sinks/deliver.ts'
import type { Deps } from './deps.ts'
import { eventService } from './events/events.ts'
import { knowingEvents } from './events/known-entities.ts'
import { DEFAULT_EVENT_KEEPING, keepEventsInBounds } from './events/retention.ts'
import type { EventDeps } from './events/source.ts'
import { metadataService } from './metadata/metadata.ts'
import type { Service } from './service.ts'
import { createSinkDatasources } from './sinks/sink-datasources.ts'
import type { EventSettings } from './sinks/sink-settings.ts'
import { sinkService } from './sinks/sinks.ts'
import { refreshMetadata } from './metadata-refresh.ts'

export interface Datasource {
  /** The name by which metadata refers to it. */
  readonly name: string
  /** `sqlite:DIRECTORY` or `postgres://…`. */
  readonly location: string
}

export interface ServiceOptions {
  /** The first is the default datasource, which stores the metadata. */
  readonly datasources: readonly Datasource[]
  readonly limits: Limits
  /** Retention of events, and configuration of sinks. */
  readonly events?: EventSettings
  readonly now?: () => Date
  /** Receives internal errors that no response could carry. */
  readonly onInternalError: (error: unknown) => void
  readonly onStoreTiming?: (operation: string, seconds: number) => void
  readonly sinkMeter?: SinkMeter
  /**
   * Whether requests that are too much for this thread go to worker threads; operations may then throw
   * `TooMuchForThisThread`.
   */
  readonly offloads?: boolean
}

/** A second copy of the service, in a worker thread beside the thread that owns the embedded databases. */
export interface ThreadServiceOptions extends Pick<
  ServiceOptions,
  'datasources' | 'limits' | 'onInternalError' | 'onStoreTiming'
> {
  readonly borrow: (datasource: string) => Promise<Loan>
}

/** The service cannot start on these datasources. */
export class OpenError extends Error {
  readonly reason: 'location' | 'locked' | 'failed'

  constructor(location: string, cause: unknown) {
    const { message, code } = cause as NodeJS.ErrnoException
    super(`the data in ${maskLocation(location)} cannot be opened: ${message}`, { cause })
    this.reason = cause instanceof LocationError ? 'location' : code === 'SMALT_LOCKED' ? 'locked' : 'failed'
  }
}

/**
 * Serves requests for data and metadata only. Delivery and retention of events belong to the service that
 * owns the data.
 */
export async function openThreadService(options: ThreadServiceOptions): Promise<Service> {
  await using opened = new AsyncDisposableStack()
  const core = await openCore(options, opened)
  await core.registry.reload()
  const events = openEventReading(core.eventDeps, DEFAULT_EVENT_KEEPING, opened)
  const owned = opened.move()
  return { ...core.service, ...events, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** An unreachable database does not prevent opening: the service is not ready until the database responds. */
export async function openService(options: ServiceOptions): Promise<Service> {
  await using opened = new AsyncDisposableStack()
  const { service, stores, registry, eventDeps } = await openCore(options, opened)
  const { onInternalError, datasources } = options
  const isShared = [...stores.values()].some((each) => each.isShared)
  const [store] = stores.values()
  const upkeep = opened.use(refreshMetadata({ store: store!, registry, isShared, onInternalError }))
  const { location } = datasources[0]!
  await upkeep.begun.catch((error: unknown) => Promise.reject(new OpenError(location, error)))
  const told = openEvents(eventDeps, options, opened)
  const owned = opened.move()
  return {
    ...service,
    ...told,
    ready: () =>
      presentably(onInternalError, async () => {
        upkeep.requireLoaded()
        await service.ready()
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Stores, metadata and data operations: the parts that both kinds of service share. */
async function openCore(options: CoreOptions, opened: AsyncDisposableStack) {
  const { limits, now = () => new Date(), onInternalError } = options
  const stores = await openStores(options, opened)
  const [[, store], ...others] = [...stores] as [[string, Database], ...[string, Database][]]
  const storeIn = (datasource: string): Database => stores.get(datasource)!
  const configured: Datasources = {
    backends: [...new Set([...stores.values()].map(({ kind }) => kind))],
    datasources: [...stores.keys()],
    backendOf: (datasource) => storeIn(datasource).kind,
  }
  const registry = createRegistry(store.metadata, {
    ...configured,
    others: new Map(others.map(([name, each]) => [name, each.metadata])),
    now,
    limits,
  })
  const { location } = options.datasources[0]!
  const schemaOf: Deps['schemaOf'] = (entity, version) => registry.schemaOf(entity, version)
  const datasourceOf = (entity: string): string => registry.infoOf(entity).datastore.datasource
  const isInStep = async (): Promise<boolean> =>
    !registry.isPartial() && (await store.metadata.readEpoch()) === registry.epoch()
  const eventDeps = { stores, limits, now, onInternalError, schemaOf, datasourceOf, isInStep }
  const service = {
    store: { kind: store.kind, description: store.description, location: maskLocation(location) },
    data: dataService({
      schemaOf,
      versionsOf: (entity) => registry.versionNames(entity),
      hooksOf: (entity) => registry.infoOf(entity).hooks,
      epoch: () => registry.epoch(),
      metadata: () => registry.current(),
      storeOf: (schema) => storeIn(schema.collection.datasource),
      storeIn,
      store,
      secret: () => registry.secret(),
      limits,
      now,
      onInternalError,
    }),
    metadata: metadataService(registry, configured, limits),
    epoch: () => registry.epoch(),
    refresh: async (epoch = Infinity) => {
      if (registry.epoch() < epoch) await registry.reload()
    },
    lendWriter: async (datasource) => await storeIn(datasource).lendWriter!(),
    async ready() {
      await Promise.all([...stores.values()].map((each) => each.ping()))
    },
  } satisfies Partial<Service>
  return { service, stores, registry, eventDeps }
}

type CoreOptions = Pick<
  ServiceOptions,
  'datasources' | 'limits' | 'onInternalError' | 'onStoreTiming' | 'now' | 'offloads'
> &
  Partial<Pick<ThreadServiceOptions, 'borrow'>>

function openEvents(
  deps: Omit<EventDeps, 'stores'> & Pick<DeliveryDeps, 'stores' | 'isInStep'>,
  { events: settings = DEFAULT_EVENT_KEEPING, sinkMeter }: ServiceOptions,
  opened: AsyncDisposableStack,
): Pick<Service, 'events' | 'sinks'> {
  const told = (name: string, areDisabledCounted: boolean): Promise<number | undefined> =>
    deliveredUpTo(deps.stores.get(name)!, { areDisabledCounted })
  opened.use(
    keepEventsInBounds({
      ...deps,
      keeping: settings,
      deliveredUpTo: (name) => told(name, true),
      enabledDeliveredUpTo: (name) => told(name, false),
    }),
  )
  opened.use(
    startDelivery({
      ...deps,
      places: createSinkDatasources(deps),
      settings,
      ...(sinkMeter && { sinkMeter }),
    }),
  )
  return openEventReading(deps, settings, opened)
}

function openEventReading(
  deps: Omit<EventDeps, 'stores'> & Pick<DeliveryDeps, 'stores' | 'isInStep'>,
  settings: EventSettings,
  opened: AsyncDisposableStack,
): Pick<Service, 'events' | 'sinks'> {
  const places = createSinkDatasources(deps)
  const { schemaOf } = deps
  const stores = new Map([...deps.stores].map(([name, store]) => [name, knowingEvents(store.events, deps)]))
  return {
    events: opened.use(eventService({ ...deps, stores })),
    sinks: sinkService({ places, settings, schemaOf }),
  }
}

async function openStores(
  { datasources, onStoreTiming, onInternalError, offloads = false, borrow }: CoreOptions,
  opened: AsyncDisposableStack,
): Promise<ReadonlyMap<string, Database>> {
  const stores = new Map<string, Database>()
  for (const { name, location } of datasources) {
    if (stores.has(name)) throw new TypeError(`there are two datasources "${name}"`)
    const store = await openStore(location, {
      onError: onInternalError,
      offloads,
      ...(onStoreTiming && { onTiming: onStoreTiming }),
      ...(borrow && { borrow: () => borrow(name) }),
    }).catch((error: unknown) => Promise.reject(new OpenError(location, error)))
    const [first] = stores.values()
    stores.set(name, opened.use(first ? withSequencesOf(first, store) : store))
  }
  if (stores.size === 0) throw new TypeError('a service needs a datasource')
  return stores
}

/** Readiness is public, so errors that were not written for callers go to the log only. */
async function presentably(
  onInternalError: (error: unknown) => void,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof ServiceError) throw error
    onInternalError(error)
    throw new ServiceError('crud:Unavailable', 'the store cannot be used; the log tells more')
  }
}
