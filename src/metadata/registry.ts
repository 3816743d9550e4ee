/** The metadata of the service: which schema a request means, and every change of it, one after the other. */
import { ServiceError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { compareText } from '../base/text.ts'
import type { Schema } from '../schema/schema.ts'
import type { HistoryRecord, MetadataChange, Store } from '../store/store.ts'
import { type Catalogue, EMPTY, type Entity, readCatalogue } from './catalogue.ts'
import type { Datasources } from './datastore.ts'
import { type EntityInfo, printEntityInfo } from './entity-info.ts'
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
import { type SchemaDocument, printSchemaDocument } from './schema-document.ts'
import { type Proposal, settle } from './settle.ts'

export type MetadataStore = Pick<Store, 'readMetadata' | 'changeMetadata' | 'readHistory'>

interface RegistryOptions extends Datasources {
  readonly now: () => Date
}

interface StatusRequest {
  readonly status: string
  readonly comment?: string
}

/** The first argument of a change is the principal who makes it. */
export interface Registry {
  /** The version asked for, or the default one; throws the 404s of the data routes. */
  schemaOf(entity: string, version?: string): Schema
  /** Sorted. */
  names(): readonly string[]
  infoOf(entity: string): EntityInfo
  /** In the order in which they were made. */
  versionsOf(entity: string): readonly SchemaDocument[]
  documentOf(entity: string, version: string): SchemaDocument
  historyOf(entity: string): Promise<readonly HistoryRecord[]>
  /** Takes over what other processes changed. */
  reload(): Promise<void>
  create(principal: string, target: VersionName, body: Json): Promise<void>
  createSchema(principal: string, target: VersionName, body: Json): Promise<void>
  updateInfo(principal: string, entity: string, body: Json): Promise<void>
  setStatus(principal: string, target: VersionName, change: StatusRequest): Promise<void>
  /** Without a version the entity has no default version any more. */
  setDefault(principal: string, entity: string, version: string | undefined): Promise<void>
  remove(principal: string, entity: string): Promise<void>
}

export async function openRegistry(store: MetadataStore, options: RegistryOptions): Promise<Registry> {
  let catalogue: Catalogue = EMPTY
  let lastChange: Promise<unknown> = Promise.resolve()

  async function reload(): Promise<void> {
    const records = await store.readMetadata()
    // A slow read may end after a newer one.
    if (records.epoch > catalogue.epoch) catalogue = readCatalogue(records, catalogue, options)
  }

  /** Changes wait for each other, and each starts from what the store holds now. */
  async function change(name: string, decide: Decide): Promise<void> {
    const previous = lastChange
    const { promise, resolve } = Promise.withResolvers<void>()
    lastChange = promise
    try {
      await previous
      await reload()
      const decision = decide(catalogue.entities.get(name), catalogue)
      if (!decision) return
      await store.changeMetadata({ ...decision, expectedEpoch: catalogue.epoch, entity: name })
      await reload()
    } finally {
      resolve()
    }
  }

  const entityOf = (name: string): Entity => known(catalogue.entities.get(name), name)

  await reload()
  return {
    reload,
    schemaOf: (entity, version) => findSchema(catalogue.entities.get(entity), entity, version),
    names: () => [...catalogue.entities.keys()].sort(compareText),
    infoOf: (entity) => entityOf(entity).info,
    versionsOf: (entity) => [...entityOf(entity).versions.values()].map(({ document }) => document()),
    documentOf(entity, version) {
      const found = entityOf(entity).versions.get(version)
      if (!found) throw missingSchema({ entity, version })
      return found.document()
    },
    historyOf: (entity) => store.readHistory(entity),
    ...changes(change, options),
  }
}

type Decision = Omit<MetadataChange, 'expectedEpoch' | 'entity'>
/** What is to be done about the entity of that name, undefined when nothing is. */
type Decide = (entity: Entity | undefined, catalogue: Catalogue) => Decision | undefined
type Changes = Pick<
  Registry,
  'create' | 'createSchema' | 'updateInfo' | 'setStatus' | 'setDefault' | 'remove'
>

function changes(change: (name: string, decide: Decide) => Promise<void>, options: RegistryOptions): Changes {
  const configured: Datasources = options
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
        proposeCreate(entity, target, { body, configured }),
      ),
    createSchema: (principal, target, body) =>
      propose({ principal, action: 'createSchema', version: target.version }, target.entity, (entity) =>
        proposeSchema(entity, target, { body, configured }),
      ),
    updateInfo: (principal, name, body) =>
      propose({ principal, action: 'updateInfo' }, name, (entity) =>
        proposeInfo(entity, name, { body, configured }),
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

/** What the store must do, or undefined when all stays as it is. */
function decideOn(
  proposal: Proposal,
  entity: Entity | undefined,
  from: { readonly catalogue: Catalogue; readonly by: Omit<HistoryRecord, 'before' | 'after'> },
): Decision | undefined {
  const prepare = settle(from.catalogue, entity, proposal)
  const version = proposal.schema?.version.value
  const info = JSON.stringify(printEntityInfo(proposal.info))
  const schema = proposal.schema && JSON.stringify(printSchemaDocument(proposal.schema))
  const schemaBefore = version === undefined ? undefined : entity?.versions.get(version)?.text
  if (info === entity?.infoText && schema === schemaBefore) return undefined
  const before = entity ? documentText(entity.infoText, schemaBefore) : null
  const history = { ...from.by, before, after: documentText(info, schema) }
  const schemas = version === undefined || schema === undefined ? [] : [{ version, schema }]
  return { info, schemas, prepare, history }
}

function documentText(info: string, schema: string | undefined): string {
  return schema === undefined ? `{"entityInfo":${info}}` : `{"entityInfo":${info},"schema":${schema}}`
}

function wholeText({ infoText, versions }: Entity): string {
  const schemas = [...versions.values()].map(({ text }) => text)
  return `{"entityInfo":${infoText},"schemas":[${schemas.join(',')}]}`
}
