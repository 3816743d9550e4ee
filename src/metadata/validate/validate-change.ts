/**
 * Validates the entity that a change would produce, across all its versions, and returns the collection it
 * needs.
 */
import { ServiceError } from '../../base/errors.ts'
import type { Schema } from '../../schema/schema.ts'
import type { CollectionDefinition } from '../../store/metadata-records.ts'
import type { Catalogue, Entity } from '../catalogue.ts'
import { checkId } from './check-id.ts'
import { type ReferredEntity, checkReferences, referredEntity } from './check-references.ts'
import { checkReferrers } from './check-referrers.ts'
import { collectionOf, pathsStored, plainSchema } from '../compile.ts'
import type { EntityInfo } from '../documents/entity-info.ts'
import { everyField } from '../documents/field-document.ts'
import { checkHookCount } from '../documents/hooks.ts'
import { indexDefinitions } from '../index-definitions.ts'
import type { SchemaDocument } from '../documents/schema-document.ts'
import { formsOf, marking } from '../stored-forms.ts'

export interface Proposal {
  readonly info: EntityInfo
  /** The version to add or to replace. */
  readonly schema: SchemaDocument | undefined
  /** Whether the targets of the version must be checked: the version is new, or is enabled again. */
  readonly isIntroduced: boolean
}

export function validateChange(
  catalogue: Catalogue,
  entity: Entity | undefined,
  proposal: Proposal,
): CollectionDefinition {
  const { info, schema } = proposal
  const documents = documentsOf(entity)
  if (schema) documents.set(schema.version.value, schema)
  checkDefaultVersion(info, documents)
  checkHookCount(info.hooks, entity?.info.hooks)
  const after = referredAfter(info, documents)
  if (schema && proposal.isIntroduced) {
    checkEnums(schema, info)
    checkReferences(plainSchema(info, schema), (name) => {
      const other = catalogue.entities.get(name)
      return name === info.name ? after : other && referredEntity(other)
    })
  }
  if (losesEnum(entity?.info, info)) for (const each of documents.values()) checkStillValid(each, info)
  checkReferrers(catalogue, info.name, after)
  const definition = definitionOf(info, documents, entity)
  if (schema && proposal.isIntroduced) checkId(schema, documents.values())
  return definition
}

/** The collection definition for the entity in its present state. */
export function presentDefinition(entity: Entity): CollectionDefinition {
  return definitionOf(entity.info, documentsOf(entity), entity)
}

type Documents = ReadonlyMap<string, SchemaDocument>

function documentsOf(entity: Entity | undefined): Map<string, SchemaDocument> {
  return new Map([...(entity?.versions ?? [])].map(([version, each]) => [version, each.document()]))
}

function definitionOf(
  info: EntityInfo,
  documents: Documents,
  entity: Entity | undefined,
): CollectionDefinition {
  const collection = collectionOf(info)
  const schemas = [...documents.values()].map((each) => plainSchema(info, each))
  const paths = [
    ...new Set(schemas.flatMap(({ root }) => [...pathsStored(root.fields), ...formsOf(root.fields)])),
  ]
  // A field whose stored values may have other forms needs another kind of index.
  const stored = [...(entity?.storedIn(collection) ?? []), ...paths]
  const mark = marking(stored)
  const marked = schemas.map((each: Schema) => ({ ...each, root: mark(each.root) }))
  return { collection, indexes: indexDefinitions(info, marked), paths, history: info.history }
}

function referredAfter(info: EntityInfo, documents: Documents): ReferredEntity {
  return {
    defaultVersion: info.defaultVersion,
    schemaOf(version) {
      const document = documents.get(version)
      return document && plainSchema(info, document)
    },
  }
}

function checkDefaultVersion({ name, defaultVersion }: EntityInfo, documents: Documents): void {
  if (defaultVersion === undefined) return
  const document = documents.get(defaultVersion)
  const place = { context: 'defaultVersion' }
  if (!document) {
    const problem = `the default version ${defaultVersion} of ${name} does not exist`
    throw new ServiceError('metadata:InvalidDefaultVersion', problem, place)
  }
  if (document.status.value !== 'disabled') return
  const problem = `version ${defaultVersion} is the default version of ${name}, which cannot be disabled`
  throw new ServiceError('metadata:DisabledDefaultVersion', problem, place)
}

function checkEnums(schema: SchemaDocument, info: EntityInfo): void {
  const [first] = missingEnums(schema, info)
  if (!first) return
  const problem = `the field "${first.path}" uses the enum "${first.name}", which entity info does not declare`
  throw new ServiceError('metadata:InvalidEnum', problem, { context: `fields/${first.path}` })
}

function losesEnum(before: EntityInfo | undefined, after: EntityInfo): boolean {
  const names = new Set(after.enums.map(({ name }) => name))
  return before?.enums.some(({ name }) => !names.has(name)) ?? false
}

/** Versions in use must stay valid when entity info changes. */
function checkStillValid(schema: SchemaDocument, info: EntityInfo): void {
  if (schema.status.value === 'disabled') return
  const [first] = missingEnums(schema, info)
  if (!first) return
  const problem = `version ${schema.version.value} uses the enum "${first.name}" in its field "${first.path}"`
  throw new ServiceError('metadata:UpdateInvalidatesMetadata', problem, { context: 'enums' })
}

function* missingEnums(
  schema: SchemaDocument,
  info: EntityInfo,
): Generator<{ readonly path: string; readonly name: string }> {
  const names = new Set(info.enums.map(({ name }) => name))
  for (const { path, field } of everyField(schema.fields)) {
    const own = field.constraints.enumName
    if (own !== undefined && !names.has(own)) yield { path, name: own }
    const ofItems = field.kind === 'array' ? field.items.constraints.enumName : undefined
    if (ofItems !== undefined && !names.has(ofItems)) yield { path: `${path}.*`, name: ofItems }
  }
}
