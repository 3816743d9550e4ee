/**
 * Computes the entity that a change would produce. Pure; `validate/validate-change.ts` checks the result as a
 * whole.
 */
import { ServiceError } from '../base/errors.ts'
import { type Json, sameJson } from '../base/json/json.ts'
import { printDate } from '../schema/date.ts'
import type { Entity } from './catalogue.ts'
import { compileRoot } from './compile-fields.ts'
import { droppedBy } from './dropped.ts'
import type { Finding } from './finding.ts'
import { withElementSteps } from './index-paths.ts'
import { respelled } from './documents/spellings.ts'
import type { Datasources } from './documents/datastore.ts'
import { type EntityInfo, parseEntityInfo } from './documents/entity-info.ts'
import {
  parseMetadataDocument,
  parseSchemaOrMetadata,
  printMetadataDocument,
} from './documents/metadata-document.ts'
import { isSnapshot } from './documents/names.ts'
import { type SchemaDocument, parseStatus } from './documents/schema-document.ts'
import { memberNames } from './stored-order.ts'
import type { Proposal } from './validate/validate-change.ts'
import { type MetadataLimits, checkInfoSizes, checkSizes, checkVersions } from './documents/sizes.ts'

export interface VersionName {
  readonly entity: string
  readonly version: string
}

/** The request, and the configuration and limits to check it against. */
export interface Sent {
  readonly body: Json
  readonly configured: Datasources
  readonly limits: MetadataLimits
}

/** The change that a request asks for, with warnings about the way it is written or what it drops. */
export interface Proposed {
  /** Undefined when there is nothing to change. */
  readonly proposal: Proposal | undefined
  readonly warnings: readonly Finding[]
}

export function proposeCreate(
  entity: Entity | undefined,
  target: VersionName,
  { body, configured, limits }: Sent,
): Proposed {
  const sent = readMetadata(body, { configured, limits })
  checkFurtherVersion(entity, target, limits)
  checkName(sent.info.name, target.entity, 'entityInfo/name')
  checkSchemaTarget(sent.schema, target)
  const { info, warnings } = withElementSteps(sent.info, [...documentsOf(entity), sent.schema])
  const spelling = [...sent.warnings, ...warnings]
  if (entity && isUnchanged(entity, info, sent.schema)) return { proposal: undefined, warnings: spelling }
  return {
    proposal: { info, schemas: [sent.schema], isIntroduced: true },
    warnings: [...spelling, ...droppedBy(entity?.info, info)],
  }
}

export function proposeSchema(
  entity: Entity | undefined,
  target: VersionName,
  { body, configured, limits }: Sent,
): Proposed {
  const { schema, warnings: spelling } = readSchema(body, { configured, limits })
  checkFurtherVersion(entity, target, limits)
  checkSchemaTarget(schema, target)
  const stored = known(entity, target.entity).info
  const { info, warnings } = withElementSteps(stored, [...documentsOf(entity), schema])
  const all = [...spelling, ...warnings]
  if (isUnchanged(entity!, info, schema)) return { proposal: undefined, warnings: all }
  return { proposal: { info, schemas: [schema], isIntroduced: true }, warnings: all }
}

export function proposeInfo(
  entity: Entity | undefined,
  name: string,
  { body, configured, limits }: Sent,
): Proposed {
  checkInfoSizes(body, limits)
  const sent = parseEntityInfo(body, '', configured)
  checkName(sent.name, name, 'name')
  const before = known(entity, name).info
  const { info, warnings } = withElementSteps(sent, documentsOf(entity))
  return {
    proposal: { info, schemas: [], isIntroduced: false },
    warnings: [...warnings, ...droppedBy(before, info)],
  }
}

interface SentMetadata {
  readonly info: EntityInfo
  readonly schema: SchemaDocument
  readonly warnings: readonly Finding[]
}

/** Parses a metadata document in any accepted spelling; `at` is its place in the request. */
export function readMetadata(
  body: Json,
  { configured, limits, at = '' }: Omit<Sent, 'body'> & { readonly at?: string },
): SentMetadata {
  const { document, warnings } = respelled(body)
  checkSizes(document, limits)
  return { ...parseMetadataDocument(document, configured, at), warnings }
}

/** The same for a schema, alone or in a metadata document. */
export function readSchema(
  body: Json,
  { configured, limits }: Omit<Sent, 'body'>,
): Omit<SentMetadata, 'info'> {
  const { document, warnings } = respelled(body)
  checkSizes(document, limits)
  return { schema: parseSchemaOrMetadata(document, configured), warnings }
}

export function documentsOf(entity: Entity | undefined): readonly SchemaDocument[] {
  return [...(entity?.versions.values() ?? [])].map(({ document }) => document())
}

export function proposeStatus(
  entity: Entity | undefined,
  target: VersionName,
  change: { readonly status: string; readonly comment?: string; readonly now: Date },
): Proposal {
  const value = parseStatus(change.status)
  const { info, versions } = known(entity, target.entity)
  const document = versions.get(target.version)?.document()
  if (!document) throw missingSchema(target)
  const left = {
    date: printDate(change.now),
    value: document.status.value,
    comment: change.comment,
    properties: {},
  }
  const status = { ...document.status, value, log: [...document.status.log, left] }
  const isIntroduced = document.status.value === 'disabled' && value !== 'disabled'
  return { info, schemas: [{ ...document, status }], isIntroduced }
}

export function proposeDefault(
  entity: Entity | undefined,
  name: string,
  defaultVersion: string | undefined,
): Proposal {
  const { info } = known(entity, name)
  return { info: { ...info, defaultVersion }, schemas: [], isIntroduced: false }
}

/** Refuses to remove an entity with a version in use. */
export function checkRemovable(entity: Entity | undefined, name: string): Entity {
  const removed = known(entity, name)
  for (const [version, { heading }] of removed.versions) {
    if (heading().status.value === 'disabled') continue
    const problem = `${name} cannot be removed while its version ${version} is not disabled; PUT /metadata/${name}/${version}/disabled disables it`
    throw new ServiceError('metadata:CannotDeleteEntity', problem)
  }
  return removed
}

export function known(entity: Entity | undefined, name: string): Entity {
  if (entity) return entity
  throw new ServiceError('metadata:MissingEntityInfo', `there is no entity "${name}"`)
}

export function missingSchema({ entity, version }: VersionName): ServiceError {
  return new ServiceError('metadata:MissingSchema', `the entity "${entity}" has no version ${version}`)
}

function checkFurtherVersion(entity: Entity | undefined, target: VersionName, limits: MetadataLimits): void {
  if (!entity || entity.versions.has(target.version)) return
  const texts = textsOf(entity)
  checkVersions({ entity: target.entity, texts, count: texts.length + 1 }, limits)
}

export function textsOf(entity: Entity | undefined): readonly string[] {
  return [...(entity?.versions.values() ?? [])].map(({ text }) => text)
}

function checkSchemaTarget(schema: SchemaDocument, { entity, version }: VersionName): void {
  checkName(schema.name, entity, 'name')
  if (schema.version.value === version) return
  const problem = `the document is of version ${schema.version.value}, the path of version ${version}`
  throw new ServiceError('rest-metadata:NoVersionMatch', problem, { context: 'version/value' })
}

export function checkName(name: string, expected: string, context: string): void {
  if (name === expected) return
  const problem = `the document is of the entity "${name}", the path of "${expected}"`
  throw new ServiceError('rest-metadata:NoNameMatch', problem, { context })
}

/**
 * Whether the version already exists with this content. With other content it must be a snapshot, which can
 * be replaced.
 */
export function isUnchanged(entity: Entity, info: EntityInfo, schema: SchemaDocument): boolean {
  const { value } = schema.version
  const existing = entity.versions.get(value)?.document()
  if (!existing) return false
  const before = printMetadataDocument(entity.info, existing)
  const after = printMetadataDocument(info, schema)
  // Documents show their members in the order of the fields.
  if (isSnapshot(value)) return sameJson(before, after) && listsAlike(existing, schema)
  if (sameJson(before, after)) return true
  const problem = `version ${value} of ${info.name} exists with other content; only SNAPSHOT versions can be replaced`
  throw new ServiceError('metadata:DuplicateSchema', problem)
}

/** Whether both list their fields in the same order. */
function listsAlike(a: SchemaDocument, b: SchemaDocument): boolean {
  const [one, other] = [a, b].map(({ fields }) => JSON.stringify([...memberNames(compileRoot(fields))]))
  return one === other
}
