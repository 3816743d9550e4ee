/** The metadata of the service: finds the schema for a request, and makes changes one after the other. */
import { ServiceError } from '../base/errors.ts'
import type { Json } from '../base/json/json.ts'
import { DEFAULT_LIMITS } from '../base/limits.ts'
import { compareText } from '../base/text.ts'
import type { Schema } from '../schema/schema.ts'
import type { HistoryRecord } from '../store/metadata-records.ts'
import type { MetadataStore as Metadata } from '../store/tables/metadata.ts'
import { type Catalogue, EMPTY, type Entity, type Heading, readCatalogue } from './catalogue.ts'
import type { Datasources } from './documents/datastore.ts'
import { type Decision, decideOn, wholeText } from './decisions.ts'
import type { EntityInfo } from './documents/entity-info.ts'
import { type OtherStores, prepareElsewhere, readAllRecords, tidyElsewhere } from './other-stores.ts'
import {
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
import type { Proposal } from './validate/validate-change.ts'
import type { MetadataLimits } from './documents/sizes.ts'

export type MetadataStore = Pick<
  Metadata,
  'readEpoch' | 'readMetadata' | 'changeMetadata' | 'readMetadataHistory'
>

interface RegistryOptions extends Datasources {
  readonly now: () => Date
  readonly limits?: MetadataLimits
  /** All datasources except the first. */
  readonly others?: OtherStores
}

interface StatusRequest {
  readonly status: string
  readonly comment?: string
}

/** The first argument of each change is the principal who makes it. */
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
  headingsOf(entity: string): readonly Heading[]
  /** All versions of the entity; empty when it does not exist. */
  versionNames(entity: string): readonly string[]
  /** Total characters of all versions; 0 when the entity does not exist. */
  sizeOf(entity: string): number
  documentOf(entity: string, version: string): SchemaDocument
  historyOf(entity: string): Promise<readonly HistoryRecord[]>
  /** Applies changes made by other processes. */
  reload(): Promise<void>
  create(principal: string, target: VersionName, body: Json): Promise<void>
  createSchema(principal: string, target: VersionName, body: Json): Promise<void>
  updateInfo(principal: string, entity: string, body: Json): Promise<void>
  setStatus(principal: string, target: VersionName, change: StatusRequest): Promise<void>
  /** Without a version, the entity has no default version afterwards. */
  setDefault(principal: string, entity: string, version: string | undefined): Promise<void>
  remove(principal: string, entity: string): Promise<void>
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
  async function change(name: string, decide: Decide): Promise<void> {
    const previous = lastChange
    const { promise, resolve } = Promise.withResolvers<void>()
    lastChange = promise
    try {
      await previous
      await catchUp()
      const decision = decide(catalogue.entities.get(name), catalogue)
      if (decision) await carryOut(name, decision)
    } finally {
      resolve()
    }
  }

  async function carryOut(name: string, { prepare, ...decision }: Decision): Promise<void> {
    const made = { ...decision, expectedEpoch: catalogue.epoch, entity: name }
    if (!prepare || !others.has(prepare.collection.datasource)) {
      await store.changeMetadata(prepare ? { ...made, prepare } : made)
      await reload()
      return
    }
    // No transaction spans two stores. The collection comes first, because every version in the metadata
    // needs it.
    await prepareElsewhere(others, catalogue.entities.get(name), prepare)
    try {
      await store.changeMetadata(made)
    } finally {
      await reload()
      await tidyElsewhere(others, catalogue.entities.get(name))
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
    ...changes(change, options),
  }
}

type Views = Pick<
  Registry,
  'schemaOf' | 'names' | 'infoOf' | 'versionsOf' | 'headingsOf' | 'versionNames' | 'sizeOf' | 'documentOf'
>

function views(loaded: () => Catalogue): Views {
  const entityOf = (name: string): Entity => known(loaded().entities.get(name), name)
  return {
    schemaOf: (entity, version) => findSchema(loaded().entities.get(entity), entity, version),
    names: () => [...loaded().entities.keys()].sort(compareText),
    infoOf: (entity) => entityOf(entity).info,
    versionsOf: (entity) => [...entityOf(entity).versions.values()].map(({ document }) => document()),
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

/** Decides on the change of the named entity; undefined when there is nothing to do. */
type Decide = (entity: Entity | undefined, catalogue: Catalogue) => Decision | undefined
type Changes = Pick<
  Registry,
  'create' | 'createSchema' | 'updateInfo' | 'setStatus' | 'setDefault' | 'remove'
>

function changes(change: (name: string, decide: Decide) => Promise<void>, options: RegistryOptions): Changes {
  const configured: Datasources = options
  const { limits = DEFAULT_LIMITS } = options
  const at = (): string => options.now().toISOString()
  const propose = (
    by: Omit<HistoryRecord, 'at' | 'before' | 'after'>,
    name: string,
    make: (entity: Entity | undefined) => Proposal | undefined,
  ): Promise<void> =>
    change(name, (entity, catalogue) => {
      const proposal = make(entity)
      return proposal && decideOn(proposal, entity, { catalogue, by: { ...by, at: at() } })
    })
  return {
    create: (principal, target, body) =>
      propose({ principal, action: 'create', version: target.version }, target.entity, (entity) =>
        proposeCreate(entity, target, { body, configured, limits }),
      ),
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
        proposeStatus(entity, target, { ...request, now: options.now() }),
      ),
    setDefault: (principal, name, version) => {
      const action = version === undefined ? { action: 'clearDefault' } : { action: 'setDefault', version }
      return propose({ principal, ...action }, name, (entity) => proposeDefault(entity, name, version))
    },
    remove: (principal, name) =>
      change(name, (entity) => {
        const before = wholeText(checkRemovable(entity, name))
        const history = { principal, action: 'remove', at: at(), before, after: null }
        return { info: null, schemas: [], history }
      }),
  }
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
