/**
 * Computes the entity that a change would produce. Pure; `validate/validate-change.ts` checks the result as a
 * whole.
 */
import { ServiceError } from '../base/errors.ts'
import { type Json, sameJson } from '../base/json/json.ts'
import { printDate } from '../schema/date.ts'
import type { Entity } from './catalogue.ts'
import type { Datasources } from './documents/datastore.ts'
import { type EntityInfo, parseEntityInfo } from './documents/entity-info.ts'
import {
  parseMetadataDocument,
  parseSchemaOrMetadata,
  printMetadataDocument,
} from './documents/metadata-document.ts'
import { isSnapshot } from './documents/names.ts'
import { type SchemaDocument, parseStatus } from './documents/schema-document.ts'
import type { Proposal } from './validate/validate-change.ts'
import { type MetadataLimits, checkInfoSizes, checkSizes, checkVersionCount } from './documents/sizes.ts'

export interface VersionName {
  readonly entity: string
  readonly version: string
}

/** The request, and the configuration and limits to check it against. */
interface Sent {
  readonly body: Json
  readonly configured: Datasources
  readonly limits: MetadataLimits
}

/** Undefined when the version already exists with the same content. */
export function proposeCreate(
  entity: Entity | undefined,
  target: VersionName,
  { body, configured, limits }: Sent,
): Proposal | undefined {
  checkSizes(body, limits)
  checkVersions(entity, target, limits)
  const { info, schema } = parseMetadataDocument(body, configured)
  checkName(info.name, target.entity, 'entityInfo/name')
  checkSchemaTarget(schema, target)
  if (entity && isSettled(entity, info, schema)) return undefined
  return { info, schema, isIntroduced: true }
}

export function proposeSchema(
  entity: Entity | undefined,
  target: VersionName,
  { body, configured, limits }: Sent,
): Proposal | undefined {
  checkSizes(body, limits)
  checkVersions(entity, target, limits)
  const schema = parseSchemaOrMetadata(body, configured)
  checkSchemaTarget(schema, target)
  const { info } = known(entity, target.entity)
  if (isSettled(entity!, info, schema)) return undefined
  return { info, schema, isIntroduced: true }
}

export function proposeInfo(
  entity: Entity | undefined,
  name: string,
  { body, configured, limits }: Sent,
): Proposal {
  checkInfoSizes(body, limits)
  const info = parseEntityInfo(body, '', configured)
  checkName(info.name, name, 'name')
  known(entity, name)
  return { info, schema: undefined, isIntroduced: false }
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
  const left = { date: printDate(change.now), value: document.status.value, comment: change.comment }
  const status = { ...document.status, value, log: [...document.status.log, left] }
  const isIntroduced = document.status.value === 'disabled' && value !== 'disabled'
  return { info, schema: { ...document, status }, isIntroduced }
}

export function proposeDefault(
  entity: Entity | undefined,
  name: string,
  defaultVersion: string | undefined,
): Proposal {
  const { info } = known(entity, name)
  return { info: { ...info, defaultVersion }, schema: undefined, isIntroduced: false }
}

/** Refuses to remove an entity with a version in use. */
export function checkRemovable(entity: Entity | undefined, name: string): Entity {
  const removed = known(entity, name)
  for (const [version, { heading }] of removed.versions) {
    if (heading().status.value === 'disabled') continue
    const problem = `${name} cannot be removed while its version ${version} is not disabled`
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

function checkVersions(entity: Entity | undefined, target: VersionName, limits: MetadataLimits): void {
  const present = entity?.versions
  if (present && !present.has(target.version)) checkVersionCount(target.entity, present.size + 1, limits)
}

function checkSchemaTarget(schema: SchemaDocument, { entity, version }: VersionName): void {
  checkName(schema.name, entity, 'name')
  if (schema.version.value === version) return
  const problem = `the document is of version ${schema.version.value}, the path of version ${version}`
  throw new ServiceError('rest-metadata:NoVersionMatch', problem, { context: 'version/value' })
}

function checkName(name: string, expected: string, context: string): void {
  if (name === expected) return
  const problem = `the document is of the entity "${name}", the path of "${expected}"`
  throw new ServiceError('rest-metadata:NoNameMatch', problem, { context })
}

/**
 * Whether the version already exists with this content. With other content it must be a snapshot, which can
 * be replaced.
 */
function isSettled(entity: Entity, info: EntityInfo, schema: SchemaDocument): boolean {
  const { value } = schema.version
  const existing = entity.versions.get(value)?.document()
  if (!existing) return false
  const before = printMetadataDocument(entity.info, existing)
  if (sameJson(before, printMetadataDocument(info, schema))) return true
  if (isSnapshot(value)) return false
  const problem = `version ${value} of ${info.name} exists with other content; only SNAPSHOT versions can be replaced`
  throw new ServiceError('metadata:DuplicateSchema', problem)
}
