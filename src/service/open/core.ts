/** Opens what every kind of service has, and what loading needs: stores, metadata and data operations. */
import type { Caller } from '../../access/caller.ts'
import { type Json, member } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { maskLocation } from '../../base/location.ts'
import type { Datasources } from '../../metadata/documents/datastore.ts'
import { watchingHooks } from '../../metadata/documents/hooks.ts'
import { type Registry, createRegistry, openRegistry } from '../../metadata/registry.ts'
import type { Database } from '../../store/database.ts'
import { dataOnce, dataService } from '../data.ts'
import type { Deps } from '../deps.ts'
import { type Dialect, SMALT } from '../dialect.ts'
import { documentService } from '../documents/documents.ts'
import { documentsOnce } from '../documents/documents-once.ts'
import { decidingClaims } from '../idempotency.ts'
import { rehearseMetadata } from '../metadata/impact.ts'
import { type MetadataOnceDeps, metadataOnce } from '../metadata/metadata-once.ts'
import { metadataService } from '../metadata/metadata.ts'
import { type StoreOptions, openStores } from './stores.ts'
import { brokenSearches } from '../search/broken-searches.ts'
import type { DataService, MetadataService, Service } from '../service.ts'
import { slowService } from '../slow/slow-requests.ts'
import { ticketService } from '../tickets.ts'

export type { Datasources }
type AdaptMetadata = (service: MetadataService, configured: Datasources) => MetadataService

export interface CoreOptions extends StoreOptions {
  /** The form of requests and responses; our own when absent. */
  readonly dialect?: Dialect
  /** The form of metadata; our own when absent. */
  readonly adaptMetadata?: AdaptMetadata
  readonly now?: () => Date
  /** Receives slow requests; when absent they are kept here. */
  readonly onSlow?: NonNullable<Deps['onSlow']>
}

export async function openCore(options: CoreOptions, opened: AsyncDisposableStack) {
  const { limits, dialect = SMALT, now = () => new Date(), onInternalError } = options
  const { adaptMetadata = (metadata) => metadata } = options
  const slow = slowService(limits)
  const stores = await openStores(options, opened)
  const [[, store], ...others] = [...stores] as [[string, Database], ...[string, Database][]]
  const storeIn = (datasource: string): Database => stores.get(datasource)!
  const configured = configuredIn(stores)
  const otherMetadata = new Map(others.map(([name, each]) => [name, each.metadata]))
  const registering = { ...configured, now, limits }
  const registry = createRegistry(store.metadata, { ...registering, others: otherMetadata })
  const serve = (each: Registry): MetadataService =>
    adaptMetadata(metadataService(each, configured, limits), configured)
  const { location } = options.datasources[0]!
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
    epoch: () => registry.epoch(),
    refresh: async (epoch = Infinity) => {
      if (registry.epoch() < epoch) await registry.reload()
    },
    lendWriter: async (datasource) => await storeIn(datasource).lendWriter!(),
    async ready() {
      await Promise.all([...stores.values()].map((each) => each.ping()))
    },
  } satisfies Partial<Service>
  const eventDeps = { stores, limits, now, onInternalError, ...eventMetadata(registry, store) }
  return { service, stores, registry, configured, eventDeps }
}

/** What metadata may name. */
function configuredIn(stores: ReadonlyMap<string, Database>): Datasources {
  return {
    backends: [...new Set([...stores.values()].map(({ kind }) => kind))],
    datasources: [...stores.keys()],
    backendOf: (datasource) => stores.get(datasource)!.kind,
  }
}

/** What events ask of metadata; `store` is the one that keeps it. */
function eventMetadata(registry: Registry, store: Database) {
  return {
    schemaOf: (entity: string, version: string | undefined) => registry.schemaOf(entity, version),
    epoch: () => registry.epoch(),
    datasourceOf: (entity: string) => registry.infoOf(entity).datastore.datasource,
    isInStep: async () => !registry.isPartial() && (await store.metadata.readEpoch()) === registry.epoch(),
  }
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
