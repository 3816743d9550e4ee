/** The metadata of the service: finds the schema for a request, and makes changes one after the other. */
import { ServiceError } from '../base/errors.ts'
import type { Json } from '../base/json/json.ts'
import { DEFAULT_LIMITS } from '../base/limits.ts'
import { compareText } from '../base/text.ts'
import type { Collection, Schema } from '../schema/schema.ts'
import type { EntityChange, HistoryRecord } from '../store/metadata-records.ts'
import type { MetadataStore as Metadata } from '../store/tables/metadata.ts'
import { stillFilled } from '../store/tables/metadata.ts'
import { claimsInRules } from './claims.ts'
import { collectionOf } from './compile.ts'
import { type Catalogue, EMPTY, type Entity, type Heading, readCatalogue } from './catalogue.ts'
import type { Datasources } from './documents/datastore.ts'
import { decideOn, decideToRemove } from './decisions.ts'
import type { EntityInfo } from './documents/entity-info.ts'
import type { Finding } from './finding.ts'
import { type ListedDocument, proposeAll } from './propose-all.ts'
import {
  type OtherStores,
  prepareElsewhere,
  readAllRecords,
  removeElsewhere,
  tidyElsewhere,
} from './other-stores.ts'
import {
  type Proposed,
  type VersionName,
  checkRemovable,
  known,
  missingSchema,
  proposeCreate,
  proposeDefault,
  proposeInfo,
  proposeSchema,
  proposeStatus,
} from './proposals.ts'
import type { SchemaDocument } from './documents/schema-document.ts'
import { checkKeptIds } from './validate/check-kept-ids.ts'
import { type Proposal, validateChange } from './validate/validate-change.ts'
import type { MetadataLimits } from './documents/sizes.ts'

export type MetadataStore = Pick<
  Metadata,
  'readEpoch' | 'readMetadata' | 'changeMetadata' | 'readMetadataHistory' | 'hasDocuments'
>

interface RegistryOptions extends Datasources {
  readonly now: () => Date
  readonly limits?: MetadataLimits
  /** All datasources except the first. */
  readonly others?: OtherStores
}

type DocumentsOfRemoved = 'delete' | 'keep'

interface StatusRequest {
  readonly status: string
  readonly comment?: string
}

/**
 * The first argument of each change is the principal who makes it. A change returns warnings about its request; `lint`
 * finds what is doubtful about the result.
 */
export interface Registry {
  /** The epoch of the metadata in use; -1 before the first read. */
  epoch(): number
  /** The identity of the metadata in use: a new object after each effective reload. */
  current(): object
  /** Whether a reload is needed although the epoch did not change. */
  isPartial(): boolean
  /** The secret of the store. */
  secret(): string
  /** The requested version, or the default one; throws the 404 errors of the data routes. */
  schemaOf(entity: string, version?: string): Schema
  /** Sorted. */
  names(): readonly string[]
  infoOf(entity: string): EntityInfo
  /** In order of creation. */
  versionsOf(entity: string): readonly SchemaDocument[]
  /** All versions in compiled form, disabled ones too; in order of creation. */
  schemasOf(entity: string): readonly Schema[]
  headingsOf(entity: string): readonly Heading[]
  /** All versions of the entity; empty when it does not exist. */
  versionNames(entity: string): readonly string[]
  /** Total characters of all versions; 0 when the entity does not exist. */
  sizeOf(entity: string): number
  documentOf(entity: string, version: string): SchemaDocument
  /** Claims of callers that row rules of any version refer to, as paths such as `org.unit`; sorted. */
  claimsInRules(): readonly string[]
  historyOf(entity: string): Promise<readonly HistoryRecord[]>
  /** Applies changes made by other processes. */
  reload(): Promise<void>
  create(principal: string, target: VersionName, body: Json): Promise<readonly Finding[]>
  /** Creates the versions of a list of metadata documents, all or none. */
  createAll(principal: string, body: Json): Promise<readonly ListedDocument[]>
  createSchema(principal: string, target: VersionName, body: Json): Promise<readonly Finding[]>
  updateInfo(principal: string, entity: string, body: Json): Promise<readonly Finding[]>
  setStatus(principal: string, target: VersionName, change: StatusRequest): Promise<readonly Finding[]>
  /** Without a version, the entity has no default version afterwards. */
  setDefault(principal: string, entity: string, version: string | undefined): Promise<readonly Finding[]>
  /** Fails if there are documents, unless it says what becomes of them. */
  remove(principal: string, entity: string, documents?: DocumentsOfRemoved): Promise<void>
}

export async function openRegistry(store: MetadataStore, options: RegistryOptions): Promise<Registry> {
  const registry = createRegistry(store, options)
  await registry.reload()
  return registry
}

/** Before the first reload, every operation that needs metadata fails with `crud:Unavailable`. */
export function createRegistry(store: MetadataStore, options: RegistryOptions): Registry {
  const { others = new Map() } = options
  let catalogue: Catalogue = EMPTY
  let lastChange: Promise<unknown> = Promise.resolve()

  async function reload(): Promise<void> {
    const records = await readAllRecords(store, others, options.datasources[0]!)
    // A slow read may end after a newer one, and must not replace its result.
    const isNewer = records.epoch > catalogue.epoch
    const isFuller = records.epoch === catalogue.epoch && catalogue.isPartial
    if (isNewer || isFuller) catalogue = readCatalogue(records, catalogue, options)
  }

  /** Usually no other process made a change; reading the epoch is then enough. */
  async function catchUp(): Promise<void> {
    if (catalogue.isPartial || (await store.readEpoch()) !== catalogue.epoch) await reload()
  }

  /** Changes run one at a time, and each starts from the current state of the store. */
  async function change<T>(decide: Decide<T>): Promise<T> {
    const previous = lastChange
    const { promise, resolve } = Promise.withResolvers<void>()
    lastChange = promise
    try {
      await previous
      await catchUp()
      const { changes: made, result } = await decide(catalogue)
      if (made.length > 0) await carryOut(made)
      return result
    } finally {
      resolve()
    }
  }

  async function carryOut(decided: readonly EntityChange[]): Promise<void> {
    const expectedEpoch = catalogue.epoch
    for (const { removed } of decided) await removeElsewhere(others, removed)
    const made = decided.map((each) =>
      each.removed && others.has(each.removed.collection.datasource) ? withoutCollection(each) : each,
    )
    const elsewhere = made.filter(({ prepare }) => prepare && others.has(prepare.collection.datasource))
    if (elsewhere.length === 0) {
      await store.changeMetadata({ expectedEpoch, entities: made })
      await reload()
      return
    }
    // No transaction spans two stores. The collections come first, because every version in the metadata needs
    // one.
    const tidy = async (): Promise<void> => {
      for (const { entity } of elsewhere) await tidyElsewhere(others, catalogue.entities.get(entity))
    }
    try {
      for (const { entity, prepare } of elsewhere) {
        await prepareElsewhere(others, catalogue.entities.get(entity), prepare!)
      }
      await store.changeMetadata({
        expectedEpoch,
        entities: made.map((each) => (elsewhere.includes(each) ? withoutCollection(each) : each)),
      })
    } finally {
      await reload()
      await tidy()
    }
  }

  const loaded = (): Catalogue => {
    if (catalogue !== EMPTY) return catalogue
    throw new ServiceError('crud:Unavailable', 'metadata could not be read yet; try again in a second')
  }
  return {
    epoch: () => catalogue.epoch,
    current: () => catalogue,
    isPartial: () => catalogue.isPartial,
    secret: () => loaded().secret,
    reload,
    historyOf: (entity) => store.readMetadataHistory(entity),
    ...views(loaded),
    ...changes(change, options, store),
  }
}

type Views = Pick<
  Registry,
  | 'schemaOf'
  | 'schemasOf'
  | 'names'
  | 'infoOf'
  | 'versionsOf'
  | 'headingsOf'
  | 'versionNames'
  | 'sizeOf'
  | 'documentOf'
  | 'claimsInRules'
>

function views(loaded: () => Catalogue): Views {
  const entityOf = (name: string): Entity => known(loaded().entities.get(name), name)
  return {
    schemaOf: (entity, version) => findSchema(loaded().entities.get(entity), entity, version),
    names: () => [...loaded().entities.keys()].sort(compareText),
    claimsInRules: () => claimsInRules(loaded()),
    infoOf: (entity) => entityOf(entity).info,
    versionsOf: (entity) => [...entityOf(entity).versions.values()].map(({ document }) => document()),
    schemasOf: (entity) => [...entityOf(entity).versions.values()].map(({ schema }) => schema()),
    versionNames: (entity) => [...(loaded().entities.get(entity)?.versions.keys() ?? [])],
    sizeOf: (entity) => {
      const versions = loaded().entities.get(entity)?.versions.values() ?? []
      return [...versions].reduce((size, { text }) => size + text.length, 0)
    },
    headingsOf: (entity) => [...entityOf(entity).versions.values()].map(({ heading }) => heading()),
    documentOf(entity, version) {
      const found = entityOf(entity).versions.get(version)
      if (!found) throw missingSchema({ entity, version })
      return found.document()
    },
  }
}

/** Decides what to change, and what to return when it is done. */
type Decide<T> = (catalogue: Catalogue) => Decision<T> | Promise<Decision<T>>

interface Decision<T> {
  readonly changes: readonly EntityChange[]
  readonly result: T
}

function withoutCollection({ entity, info, schemas, history }: EntityChange): EntityChange {
  return { entity, info, schemas, history }
}

type Changes = Pick<
  Registry,
  'create' | 'createAll' | 'createSchema' | 'updateInfo' | 'setStatus' | 'setDefault' | 'remove'
>

function changes(
  change: <T>(decide: Decide<T>) => Promise<T>,
  options: RegistryOptions,
  own: Pick<MetadataStore, 'hasDocuments'>,
): Changes {
  const configured: Datasources = options
  const { limits = DEFAULT_LIMITS } = options
  const at = (): string => options.now().toISOString()
  const hasDocuments = (collection: Collection): Promise<boolean> =>
    (options.others?.get(collection.datasource) ?? own).hasDocuments(collection)
  const propose = (
    by: Omit<HistoryRecord, 'at' | 'before' | 'after'>,
    name: string,
    make: (entity: Entity | undefined) => Proposed,
  ): Promise<readonly Finding[]> =>
    change(async (catalogue) => {
      const { proposal, warnings } = make(catalogue.entities.get(name))
      const proposals = proposal ? [proposal] : []
      const made = decideOnAll(proposals, catalogue, { ...by, at: at() })
      await checkKeptIds(catalogue, proposals, hasDocuments)
      return { changes: made, result: warnings }
    })
  return {
    create: (principal, target, body) =>
      propose({ principal, action: 'create', version: target.version }, target.entity, (entity) =>
        proposeCreate(entity, target, { body, configured, limits }),
      ),
    createAll: (principal, body) =>
      change(async (catalogue) => {
        const { proposals, documents } = proposeAll(catalogue, { body, configured, limits })
        const made = decideOnAll(proposals, catalogue, { principal, action: 'create', at: at() })
        await checkKeptIds(catalogue, proposals, hasDocuments)
        return { changes: made, result: documents }
      }),
    createSchema: (principal, target, body) =>
      propose({ principal, action: 'createSchema', version: target.version }, target.entity, (entity) =>
        proposeSchema(entity, target, { body, configured, limits }),
      ),
    updateInfo: (principal, name, body) =>
      propose({ principal, action: 'updateInfo' }, name, (entity) =>
        proposeInfo(entity, name, { body, configured, limits }),
      ),
    setStatus: (principal, target, request) =>
      propose({ principal, action: 'setStatus', version: target.version }, target.entity, (entity) =>
        unwarned(proposeStatus(entity, target, { ...request, now: options.now() })),
      ),
    setDefault: (principal, name, version) => {
      const action = version === undefined ? { action: 'clearDefault' } : { action: 'setDefault', version }
      return propose({ principal, ...action }, name, (entity) =>
        unwarned(proposeDefault(entity, name, version)),
      )
    },
    remove: (principal, name, documents) =>
      change(async ({ entities }) => {
        const entity = checkRemovable(entities.get(name), name)
        const collection = collectionOf(entity.info)
        if (documents === undefined && (await hasDocuments(collection))) throw stillFilled(name)
        const by = { principal, action: 'remove', at: at() }
        const made = decideToRemove(entity, { by, collection, documents })
        return { changes: [made], result: undefined }
      }),
  }
}

function unwarned(proposal: Proposal): Proposed {
  return { proposal, warnings: [] }
}

function decideOnAll(
  proposals: readonly Proposal[],
  catalogue: Catalogue,
  by: Omit<HistoryRecord, 'before' | 'after'>,
): readonly EntityChange[] {
  const definitions = validateChange(catalogue, proposals)
  return proposals.flatMap((proposal, i) => {
    const entity = catalogue.entities.get(proposal.info.name)
    return decideOn(proposal, { entity, prepare: definitions[i]!, by })
  })
}

function findSchema(entity: Entity | undefined, name: string, version: string | undefined): Schema {
  if (!entity) throw new ServiceError('crud:UnknownEntity', `there is no entity "${name}"`)
  const wanted = version ?? entity.info.defaultVersion
  if (wanted === undefined) {
    const problem = `the entity "${name}" has no default version, so a request must name one`
    throw new ServiceError('crud:NoDefaultVersion', problem)
  }
  const schema = entity.versions.get(wanted)?.schema()
  if (!schema) throw new ServiceError('crud:UnknownEntity', `the entity "${name}" has no version ${wanted}`)
  if (schema.status !== 'disabled') return schema
  throw new ServiceError(
    'crud:DisabledMetadataVersion',
    `version ${wanted} of the entity "${name}" is disabled`,
  )
}
