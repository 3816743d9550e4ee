/** Opens the whole service on its datasources: stores, metadata and operations, wired once. */
import type { Caller } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'
import { type Json, member } from '../base/json/json.ts'
import { parseTrusted } from '../base/json/parse-trusted.ts'
import type { Limits } from '../base/limits.ts'
import { maskLocation } from '../base/location.ts'
import type { Datasources } from '../metadata/documents/datastore.ts'
import { watchingHooks } from '../metadata/documents/hooks.ts'
import { type Registry, createRegistry, openRegistry } from '../metadata/registry.ts'
import { openStore } from '../store/open.ts'
import { LocationError } from '../store/postgres/connection/location.ts'
import { withSequencesOf } from '../store/shared-sequences.ts'
import type { Loan } from '../base/work/loan.ts'
import type { Database } from '../store/database.ts'
import { type BackupSettings, backupService } from './backup/backups.ts'
import { dataOnce, dataService } from './data.ts'
import { brokenSearches } from './search/broken-searches.ts'
import { type DeliveryDeps, type SinkMeter, startDelivery, deliveredUpTo } from './sinks/deliver.ts'
import type { Deps } from './deps.ts'
import { documentService } from './documents/documents.ts'
import { documentsOnce } from './documents/documents-once.ts'
import { type Dialect, SMALT } from './dialect.ts'
import { eventService } from './events/events.ts'
import { knowingEvents } from './events/known-entities.ts'
import { DEFAULT_EVENT_KEEPING, keepEventsInBounds } from './events/retention.ts'
import type { EventDeps } from './events/source.ts'
import { decidingClaims, trimAnswers } from './idempotency.ts'
import { rehearseMetadata } from './metadata/impact.ts'
import { type MetadataOnceDeps, metadataOnce } from './metadata/metadata-once.ts'
import { metadataService } from './metadata/metadata.ts'
import type { BackupService, DataService, MetadataService, Service } from './service.ts'
import { createSinkDatasources } from './sinks/sink-datasources.ts'
import type { EventSettings } from './sinks/sink-settings.ts'
import { sinkService } from './sinks/sinks.ts'
import { slowService } from './slow/slow-requests.ts'
import { ticketService } from './tickets.ts'
import { refreshMetadata } from './metadata-refresh.ts'

export interface Datasource {
  /** The name by which metadata refers to it. */
  readonly name: string
  /** `sqlite:DIRECTORY` or `postgres://…`. */
  readonly location: string
}

export type { Datasources }
export type AdaptMetadata = (service: MetadataService, configured: Datasources) => MetadataService

export interface ServiceOptions {
  /** The first is the default datasource, which stores the metadata. */
  readonly datasources: readonly Datasource[]
  readonly limits: Limits
  /** The form of requests and responses; our own when absent. */
  readonly dialect?: Dialect
  /** The form of metadata; our own when absent. */
  readonly adaptMetadata?: AdaptMetadata
  /** Retention of events, and configuration of sinks. */
  readonly events?: EventSettings
  /** Where and when the service makes backups; absent: it makes none. */
  readonly backup?: BackupSettings
  readonly now?: () => Date
  /** Receives internal errors that no response could carry. */
  readonly onInternalError: (error: unknown) => void
  /** Receives a sentence about a database whose settings break a promise of the service. */
  readonly onWarning?: (message: string) => void
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
  'datasources' | 'limits' | 'dialect' | 'adaptMetadata' | 'onInternalError' | 'onStoreTiming'
> {
  readonly borrow: (datasource: string) => Promise<Loan>
  /** The main thread keeps slow requests. */
  readonly onSlow: NonNullable<Deps['onSlow']>
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
  return {
    ...core.service,
    ...events,
    backups: NO_BACKUPS,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** The thread that owns the data makes them. */
const NO_BACKUPS: BackupService = {
  make: () => Promise.reject(new Error('a worker thread makes no backups')),
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
  opened.use(trimAnswers({ ...eventDeps, stores }))
  const backups = opened.use(
    backupService({
      settings: options.backup,
      datasources,
      store: store!,
      now: eventDeps.now,
      onInternalError,
    }),
  )
  const owned = opened.move()
  return {
    ...service,
    ...told,
    backups,
    ready: () =>
      presentably(onInternalError, async () => {
        upkeep.requireLoaded()
        await service.ready()
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Stores, metadata and data operations: the parts that both kinds of service share, and that loading needs. */
export async function openCore(options: CoreOptions, opened: AsyncDisposableStack) {
  const { limits, dialect = SMALT, now = () => new Date(), onInternalError } = options
  const { adaptMetadata = (metadata) => metadata } = options
  const slow = slowService(limits)
  const stores = await openStores(options, opened)
  const [[, store], ...others] = [...stores] as [[string, Database], ...[string, Database][]]
  const storeIn = (datasource: string): Database => stores.get(datasource)!
  const configured: Datasources = {
    backends: [...new Set([...stores.values()].map(({ kind }) => kind))],
    datasources: [...stores.keys()],
    backendOf: (datasource) => storeIn(datasource).kind,
  }
  const otherMetadata = new Map(others.map(([name, each]) => [name, each.metadata]))
  const registering = { ...configured, now, limits }
  const registry = createRegistry(store.metadata, { ...registering, others: otherMetadata })
  const serve = (each: Registry): MetadataService =>
    adaptMetadata(metadataService(each, configured, limits), configured)
  const { location } = options.datasources[0]!
  const schemaOf: Deps['schemaOf'] = (entity, version) => registry.schemaOf(entity, version)
  const datasourceOf = (entity: string): string => registry.infoOf(entity).datastore.datasource
  const isInStep = async (): Promise<boolean> =>
    !registry.isPartial() && (await store.metadata.readEpoch()) === registry.epoch()
  const epoch = (): number => registry.epoch()
  const eventDeps = { stores, limits, now, onInternalError, schemaOf, epoch, datasourceOf, isInStep }
  const deps: Deps = {
    ...metadataDeps(registry),
    storeOf: (schema) => storeIn(schema.collection.datasource),
    storeIn,
    store,
    limits,
    dialect,
    now,
    onInternalError,
    onSlow: options.onSlow ?? slow.note,
  }
  const data = dataService(deps)
  const open: MetadataOnceDeps['open'] = (each, elsewhere) =>
    openRegistry(each, { ...registering, others: elsewhere })
  const service = {
    store: { kind: store.kind, description: store.description, location: maskLocation(location) },
    data,
    documents: documentService(deps),
    tickets: ticketService(deps),
    slow,
    rehearseMetadata: rehearseMetadata({
      store,
      others: otherMetadata,
      storeIn,
      registry,
      open,
      serve,
      readable: (caller, entity, ids) => readableIds(data, caller, { entity, ids }),
      brokenSearches: (rehearsed, { work, ...change }) =>
        brokenSearches({ ...change, before: deps, after: { ...deps, ...metadataDeps(rehearsed) } }, work),
    }),
    once: {
      decidingClaims: (caller) => decidingClaims(caller, registry.claimsInRules()),
      ...dataOnce(deps),
      document: documentsOnce(deps),
      metadata: metadataOnce({
        store,
        others: otherMetadata,
        registry,
        open,
        serve,
        limits,
        now,
      }),
    },
    metadata: serve(registry),
    epoch,
    refresh: async (epoch = Infinity) => {
      if (registry.epoch() < epoch) await registry.reload()
    },
    lendWriter: async (datasource) => await storeIn(datasource).lendWriter!(),
    async ready() {
      await Promise.all([...stores.values()].map((each) => each.ping()))
    },
  } satisfies Partial<Service>
  return { service, stores, registry, configured, eventDeps }
}

/** What the operations ask of metadata. */
function metadataDeps(registry: Registry) {
  return {
    schemaOf: (entity, version) => registry.schemaOf(entity, version),
    versionsOf: (entity) => registry.versionNames(entity),
    hooksOf: (entity) => watchingHooks(registry.infoOf(entity).hooks),
    indexesOf: (entity) => registry.infoOf(entity).indexes,
    epoch: () => registry.epoch(),
    metadata: () => registry.current(),
    secret: () => registry.secret(),
  } satisfies Partial<Deps>
}

/** Nothing where the caller may not find documents of the entity at all. */
async function readableIds(
  data: DataService,
  caller: Caller,
  { entity, ids }: { readonly entity: string; readonly ids: readonly Json[] },
): Promise<readonly Json[]> {
  if (ids.length === 0) return []
  const query = { field: '_id', op: '$in', values: ids }
  const { processed = [] } = await data.find(caller, { entity }, { query, projection: { field: '_id' } })
  return processed.flatMap((text) => member(parseTrusted(text), '_id') ?? [])
}

type CoreOptions = Pick<
  ServiceOptions,
  | 'datasources'
  | 'limits'
  | 'dialect'
  | 'adaptMetadata'
  | 'onInternalError'
  | 'onWarning'
  | 'onStoreTiming'
  | 'now'
  | 'offloads'
> &
  Partial<Pick<ThreadServiceOptions, 'borrow' | 'onSlow'>>

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
  const { schemaOf, limits, now } = deps
  const stores = new Map([...deps.stores].map(([name, store]) => [name, knowingEvents(store.events, deps)]))
  return {
    events: opened.use(eventService({ ...deps, stores })),
    sinks: sinkService({ places, settings, schemaOf, limits, now }),
  }
}

async function openStores(
  { datasources, limits, onStoreTiming, onInternalError, onWarning, offloads = false, borrow }: CoreOptions,
  opened: AsyncDisposableStack,
): Promise<ReadonlyMap<string, Database>> {
  const stores = new Map<string, Database>()
  for (const { name, location } of datasources) {
    if (stores.has(name)) throw new TypeError(`there are two datasources "${name}"`)
    const store = await openStore(location, {
      onError: onInternalError,
      ...(onWarning && { onWarning: (message: string) => onWarning(`datasource "${name}": ${message}`) }),
      offloads,
      memory: limits,
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
