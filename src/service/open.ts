/** Opens the whole service on a data directory: stores, metadata, operations, wired once. */
import type { Limits } from '../base/limits.ts'
import { openRegistry } from '../metadata/registry.ts'
import { openSqliteStore } from '../store/sqlite/store.ts'
import { dataService } from './data.ts'
import { metadataService } from './metadata.ts'
import { ensureSavedSearch } from './saved-search-entity.ts'
import type { Service } from './service.ts'

export interface ServiceOptions {
  readonly dataDirectory: string
  readonly limits: Limits
  readonly now?: () => Date
  /** Told of faults of our own that a response could not carry. */
  readonly onInternalError: (error: unknown) => void
  readonly onStoreTiming?: (operation: string, seconds: number) => void
}

export async function openService(options: ServiceOptions): Promise<Service> {
  const { dataDirectory, limits, now = () => new Date(), onStoreTiming, onInternalError } = options
  const store = openSqliteStore({
    directory: dataDirectory,
    ...(onStoreTiming && { onTiming: onStoreTiming }),
  })
  const registry = await openRegistry(store, {
    backends: [store.kind],
    datasources: ['default'],
    backendOf: () => store.kind,
    now,
  })
  await ensureSavedSearch(registry, store.kind)
  return {
    store: { kind: store.kind, description: store.description, location: dataDirectory },
    data: dataService({
      schemaOf: (entity, version) => registry.schemaOf(entity, version),
      storeOf: () => store,
      store,
      limits,
      now,
      onInternalError,
    }),
    metadata: metadataService(registry),
    ready: () => store.ping(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}
