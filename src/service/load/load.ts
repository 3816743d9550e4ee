/**
 * Loads metadata and documents of another system into the stores of a service that is not running here: everything is
 * checked as in requests, but documents are taken as they are. Nothing is generated, and no events are created.
 */
import { type Caller, PERMISSIONS } from '../../access/caller.ts'
import type { JsonObject } from '../../base/json/json.ts'
import type { Limits } from '../../base/limits.ts'
import { printMetadataDocument } from '../../metadata/documents/metadata-document.ts'
import type { Sequence } from '../../schema/field.ts'
import { openCore } from '../open/core.ts'
import type { Datasource } from '../open/stores.ts'
import { type LoadedBatch, loadDocuments } from './load-documents.ts'
import { type EntityToLoad, type LoadedMetadata, loadMetadata } from './load-metadata.ts'
import { type SequenceWatch, watchSequences } from './watch-sequences.ts'

export interface Loader extends AsyncDisposable {
  readonly datasources: readonly string[]
  /** The kind of a datasource. */
  readonly backendOf: (datasource: string) => string
  readonly putMetadata: (entities: readonly EntityToLoad[]) => Promise<LoadedMetadata>
  readonly entities: () => readonly LoadableEntity[]
  /** The metadata documents of all versions. */
  readonly metadata: () => readonly JsonObject[]
  /** Loads a batch in one transaction. */
  readonly load: (entity: string, documents: readonly JsonObject[]) => Promise<LoadedBatch>
  /** Continues sequences after the values of the documents loaded, and after the given ones. */
  readonly raiseSequences: (given: readonly Sequence[]) => Promise<number>
}

interface LoadableEntity {
  readonly entity: string
  readonly collection: string
  readonly versions: readonly string[]
  readonly indexes: number
  readonly hooks: readonly string[]
}

interface LoaderOptions {
  readonly datasources: readonly Datasource[]
  readonly limits: Limits
  /** The name that the history records. */
  readonly principal: string
  /** Whether members that no version defines are left out; otherwise their documents are rejected. */
  readonly dropsUnknown: boolean
  /** Receives failures of a store that no operation reports, such as a lost idle connection. */
  readonly onInternalError: (error: unknown) => void
}

/** Throws an OpenError if a store cannot be opened, for example because a service is using it. */
export async function openLoader(options: LoaderOptions): Promise<Loader> {
  const { datasources, limits, principal, dropsUnknown, onInternalError } = options
  await using opened = new AsyncDisposableStack()
  const core = await openCore({ datasources, limits, onInternalError }, opened)
  const { registry, stores, service, configured } = core
  await service.ready()
  await registry.reload()
  const caller: Caller = { principal, roles: new Set(), permissions: new Set(PERMISSIONS), claims: {} }
  const watches = new Map<string, SequenceWatch>()
  const owned = opened.move()
  return {
    datasources: configured.datasources,
    backendOf: configured.backendOf,
    putMetadata: (entities) =>
      loadMetadata(entities, { metadata: service.metadata, registry, configured, caller }),
    entities: () =>
      registry.names().map((entity) => {
        const { datastore, indexes, hooks } = registry.infoOf(entity)
        return {
          entity,
          collection: datastore.collection,
          versions: registry.versionNames(entity),
          indexes: indexes.length,
          hooks: hooks.map(({ name }) => name),
        }
      }),
    metadata: () =>
      registry
        .names()
        .flatMap((entity) =>
          registry.versionsOf(entity).map((schema) => printMetadataDocument(registry.infoOf(entity), schema)),
        ),
    async load(entity, documents) {
      const schemas = schemasToTry(entity)
      const store = stores.get(schemas[0]!.collection.datasource)!
      const rules = { schemas, dropsUnknown, maxFaults: limits.faults }
      const loaded = await loadDocuments(documents, { store, rules, principal })
      const watch = watches.get(entity) ?? watchSequences(schemas)
      watches.set(entity, watch)
      for (const document of loaded.stored) watch.add(document)
      return loaded
    },
    async raiseSequences(given) {
      const raised = [...given, ...[...watches.values()].flatMap((each) => each.next())]
      const [store] = stores.values()
      for (const sequence of raised) await store!.raiseSequence(sequence)
      return new Set(raised.map(({ name }) => name)).size
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }

  /** The default version first, then the newest ones. */
  function schemasToTry(entity: string) {
    const { defaultVersion } = registry.infoOf(entity)
    const newestFirst = registry.schemasOf(entity).toReversed()
    return newestFirst.sort((a, b) => rank(a) - rank(b))
    function rank({ version, status }: { readonly version: string; readonly status: string }): number {
      if (version === defaultVersion) return 0
      return status === 'disabled' ? 2 : 1
    }
  }
}
