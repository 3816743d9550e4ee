/**
 * Validates the entities that a change would produce, across all their versions, and returns the collections
 * they need.
 */
import { ServiceError } from '../../base/errors.ts'
import type { Schema } from '../../schema/schema.ts'
import type { CollectionDefinition } from '../../store/metadata-records.ts'
import type { Catalogue, Entity } from '../catalogue.ts'
import { checkDefaults } from './check-defaults.ts'
import { checkGenerators } from './check-generators.ts'
import { checkId } from './check-id.ts'
import { type Referred, type ReferredEntity, checkReferences, referredEntity } from './check-references.ts'
import { checkReferrers } from './check-referrers.ts'
import { collectionOf, pathsStored, plainSchema } from '../compile.ts'
import type { EntityInfo } from '../documents/entity-info.ts'
import { everyField } from '../documents/field-document.ts'
import { checkHookCount } from '../documents/hooks.ts'
import { indexDefinitions } from '../index-definitions.ts'
import type { SchemaDocument } from '../documents/schema-document.ts'
import { formsOf, marking } from '../stored-forms.ts'
import { orderEntries } from '../stored-order.ts'

export interface Proposal {
  readonly info: EntityInfo
  /** The versions to add or to replace. */
  readonly schemas: readonly SchemaDocument[]
  /** Whether the targets of these versions must be checked: they are new, or are enabled again. */
  readonly isIntroduced: boolean
}

/**
 * Checks proposals for different entities together: each sees the others as they would be afterwards. Returns the
 * collection that each of them needs.
 */
export function validateChange(
  catalogue: Catalogue,
  proposals: readonly Proposal[],
): readonly CollectionDefinition[] {
  const futures = new Map(proposals.map((each) => [each.info.name, futureOf(catalogue, each)]))
  const referred = (name: string): ReferredEntity | undefined => {
    const future = futures.get(name)
    const present = catalogue.entities.get(name)
    return future ? referredAfter(future) : present && referredEntity(present)
  }
  return [...futures.values()].map((future) => {
    validateFuture(future, referred)
    checkReferrers(catalogue, future.info.name, {
      after: referredAfter(future),
      isReplaced: (entity, version) => Boolean(futures.get(entity)?.replaced.has(version)),
    })
    const definition = definitionOf(future, catalogue.storedIn)
    if (future.isIntroduced) {
      for (const each of future.replaced.values()) checkId(each, future.documents.values())
    }
    return definition
  })
}

/** The entity after a change. */
interface Future extends Pick<Proposal, 'info' | 'isIntroduced'> {
  readonly entity: Entity | undefined
  /** All versions. */
  readonly documents: Documents
  /** The versions that the change adds or replaces. */
  readonly replaced: Documents
}

function futureOf({ entities }: Catalogue, { info, schemas, isIntroduced }: Proposal): Future {
  const entity = entities.get(info.name)
  const replaced = new Map(schemas.map((each) => [each.version.value, each]))
  const documents = new Map([...documentsOf(entity), ...replaced])
  return { info, isIntroduced, entity, documents, replaced }
}

function validateFuture(
  { info, isIntroduced, entity, documents, replaced }: Future,
  referred: Referred,
): void {
  checkDefaultVersion(info, documents)
  checkHookCount(info.hooks, entity?.info.hooks)
  for (const each of isIntroduced ? replaced.values() : []) {
    checkEnums(each, info)
    const schema = plainSchema(info, each)
    checkDefaults(each, schema)
    checkGenerators(schema)
    checkReferences(schema, referred)
  }
  if (losesEnum(entity?.info, info)) for (const each of documents.values()) checkStillValid(each, info)
}

/** The collection definition for the entity in its present state. */
export function presentDefinition(entity: Entity): CollectionDefinition {
  return definitionOf({ info: entity.info, documents: documentsOf(entity), entity }, entity.storedIn)
}

type Documents = ReadonlyMap<string, SchemaDocument>

function documentsOf(entity: Entity | undefined): Documents {
  return new Map([...(entity?.versions ?? [])].map(([version, each]) => [version, each.document()]))
}

function definitionOf(
  { info, documents, entity }: Pick<Future, 'info' | 'documents' | 'entity'>,
  storedIn: Catalogue['storedIn'],
): CollectionDefinition {
  const collection = collectionOf(info)
  const record = storedIn(collection)
  const schemas = [...documents.values()].map((each) => plainSchema(info, each))
  const paths = [
    ...new Set([
      ...schemas.flatMap(({ root }) => [...pathsStored(root.fields), ...formsOf(root.fields)]),
      ...orderEntries(
        record,
        schemas.map(({ root }) => root),
        [...(entity?.versions.values() ?? [])].map(({ memberNames }) => memberNames()),
      ),
    ]),
  ]
  // A field whose stored values may have other forms needs another kind of index.
  const stored = [...record, ...paths]
  const mark = marking(stored)
  const marked = schemas.map((each: Schema) => ({ ...each, root: mark(each.root) }))
  return { collection, indexes: indexDefinitions(info, marked), paths, history: info.history }
}

function referredAfter({ info, documents }: Pick<Future, 'info' | 'documents'>): ReferredEntity {
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
