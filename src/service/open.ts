/** Opens the whole service on its datasources: stores, metadata, operations, wired once. */
import { ServiceError } from '../base/errors.ts'
import type { Limits } from '../base/limits.ts'
import { maskLocation } from '../base/location.ts'
import type { Datasources } from '../metadata/datastore.ts'
import { createRegistry } from '../metadata/registry.ts'
import { openStore } from '../store/open.ts'
import { LocationError } from '../store/postgres/location.ts'
import { withSequencesOf } from '../store/shared-sequences.ts'
import type { Store } from '../store/store.ts'
import { dataService } from './data.ts'
import { metadataService } from './metadata.ts'
import type { Service } from './service.ts'
import { keepUp } from './upkeep.ts'

export interface Datasource {
  /** What metadata calls it. */
  readonly name: string
  /** `sqlite:DIRECTORY` or `postgres://…`. */
  readonly location: string
}

export interface ServiceOptions {
  /** The first is the default one, and holds the metadata. */
  readonly datasources: readonly Datasource[]
  readonly limits: Limits
  readonly now?: () => Date
  /** Told of faults of our own that a response could not carry. */
  readonly onInternalError: (error: unknown) => void
  readonly onStoreTiming?: (operation: string, seconds: number) => void
}

/** The service cannot begin on these data. */
export class OpenError extends Error {
  readonly reason: 'location' | 'locked' | 'failed'

  constructor(location: string, cause: unknown) {
    const { message, code } = cause as NodeJS.ErrnoException
    super(`the data in ${maskLocation(location)} cannot be opened: ${message}`, { cause })
    this.reason = cause instanceof LocationError ? 'location' : code === 'SMALT_LOCKED' ? 'locked' : 'failed'
  }
}

/** A database out of reach does not keep the service from opening: it is not ready until the database answers. */
export async function openService(options: ServiceOptions): Promise<Service> {
  const { limits, now = () => new Date(), onInternalError } = options
  await using opened = new AsyncDisposableStack()
  const stores = await openStores(options, opened)
  const [[, store], ...others] = [...stores] as [[string, Store], ...[string, Store][]]
  const storeIn = (datasource: string): Store => stores.get(datasource)!
  const configured: Datasources = {
    backends: [...new Set([...stores.values()].map(({ kind }) => kind))],
    datasources: [...stores.keys()],
    backendOf: (datasource) => storeIn(datasource).kind,
  }
  const registry = createRegistry(store, { ...configured, others: new Map(others), now })
  const isShared = [...stores.values()].some(({ kind }) => kind !== 'sqlite')
  const upkeep = opened.use(keepUp({ store, registry, isShared, onInternalError }))
  const { location } = options.datasources[0]!
  await upkeep.begun.catch((error: unknown) => Promise.reject(new OpenError(location, error)))
  const owned = opened.move()
  return {
    store: { kind: store.kind, description: store.description, location: maskLocation(location) },
    data: dataService({
      schemaOf: (entity, version) => registry.schemaOf(entity, version),
      epoch: () => registry.epoch(),
      storeOf: (schema) => storeIn(schema.collection.datasource),
      storeIn,
      store,
      secret: () => registry.secret(),
      limits,
      now,
      onInternalError,
    }),
    metadata: metadataService(registry, configured),
    ready: () =>
      presentably(onInternalError, async () => {
        upkeep.requireLoaded()
        await Promise.all([...stores.values()].map((each) => each.ping()))
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function openStores(
  { datasources, onStoreTiming, onInternalError }: ServiceOptions,
  opened: AsyncDisposableStack,
): Promise<ReadonlyMap<string, Store>> {
  const stores = new Map<string, Store>()
  for (const { name, location } of datasources) {
    if (stores.has(name)) throw new TypeError(`there are two datasources "${name}"`)
    const store = await openStore(location, {
      onError: onInternalError,
      ...(onStoreTiming && { onTiming: onStoreTiming }),
    }).catch((error: unknown) => Promise.reject(new OpenError(location, error)))
    const [first] = stores.values()
    stores.set(name, opened.use(first ? withSequencesOf(first, store) : store))
  }
  if (stores.size === 0) throw new TypeError('a service needs a datasource')
  return stores
}

/** Anybody may ask whether the service is ready, so errors that are not written for callers stay in the log. */
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
