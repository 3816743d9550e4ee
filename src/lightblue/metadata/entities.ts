/** Groups metadata documents by entity, in an order in which references lead to earlier entities where possible. */
import { type Json, type JsonObject, isObject, member, sameJson } from '../../base/json/json.ts'
import { compareText } from '../../base/text.ts'
import { SourceError } from '../source-error.ts'
import type { Note } from './note.ts'
import { type Targets, rewriteInfo } from './rewrite-info.ts'
import { textMember } from '../text-member.ts'

export interface EntityMetadata {
  readonly entity: string
  readonly info: JsonObject
  /** Where Lightblue keeps the documents; entities may share a collection. */
  readonly collection: string
  /** Oldest first. */
  readonly versions: readonly VersionSchema[]
}

interface VersionSchema {
  readonly version: string
  /** `active`, `deprecated` or `disabled`. */
  readonly status: string
  readonly schema: JsonObject
}

export interface Entities {
  readonly entities: readonly EntityMetadata[]
  readonly notes: readonly Note[]
}

export function entitiesFrom(documents: readonly JsonObject[], targets: Targets): Entities {
  const byName = Map.groupBy(documents, nameOf)
  const groups = [...byName]
    .sort(([a], [b]) => compareText(a, b))
    .map(([entity, own]) => entityFrom(entity, own, targets))
  return {
    entities: inOrder(groups.map(({ metadata }) => metadata)),
    notes: groups.flatMap(({ notes }) => notes),
  }
}

function nameOf(document: JsonObject): string {
  const name = member(document['entityInfo'], 'name')
  if (typeof name === 'string' && name !== '') return name
  throw new SourceError('invalid', 'a metadata document has no "name" in its entity info')
}

function entityFrom(
  entity: string,
  documents: readonly JsonObject[],
  targets: Targets,
): { readonly metadata: EntityMetadata; readonly notes: readonly Note[] } {
  const schemas = new Map<string, JsonObject>()
  for (const { schema } of documents) {
    const version = member(member(schema, 'version'), 'value')
    if (typeof version !== 'string' || !isObject(schema)) {
      throw new SourceError('invalid', `a schema of ${entity} has no version`)
    }
    const { _id, ...own } = schema
    const known = schemas.get(version)
    if (known && !sameJson(known, own)) {
      throw new SourceError('invalid', `there are two different schemas of ${entity} ${version}`)
    }
    schemas.set(version, own)
  }
  const versions = [...schemas]
    .map(([version, schema]) => ({ version, status: textMember(schema['status'], 'value'), schema }))
    .sort((a, b) => compareVersions(a.version, b.version))
  const newest = newestInfo(documents, versions.at(-1)!.version)
  const { info, notes } = rewriteInfo(newest, targets)
  const collection = textMember(newest['datastore'], 'collection') || entity
  const isAmbiguous = documents.some(
    ({ entityInfo }) => !sameJson(rewriteInfo(entityInfo as JsonObject, targets).info, info),
  )
  const ambiguity: Note = {
    kind: 'differs',
    entity,
    what: 'its files contain different entity infos; that of the newest version is used',
    advice: 'check indexes, hooks and the default version',
  }
  return {
    metadata: { entity, info, collection, versions },
    notes: isAmbiguous ? [...notes, ambiguity] : notes,
  }
}

function newestInfo(documents: readonly JsonObject[], version: string): JsonObject {
  const own = documents.find(({ schema }) => member(member(schema, 'version'), 'value') === version)
  return own!['entityInfo'] as JsonObject
}

/** By their numbers; a version with a suffix precedes the same one without. */
export function compareVersions(a: string, b: string): number {
  const [x, y] = [versionParts(a), versionParts(b)]
  for (const i of [0, 1, 2]) {
    const difference = (x.numbers[i] ?? 0) - (y.numbers[i] ?? 0)
    if (difference !== 0) return difference
  }
  if (x.suffix === '' || y.suffix === '') return (x.suffix === '' ? 1 : 0) - (y.suffix === '' ? 1 : 0)
  return compareText(x.suffix, y.suffix)
}

function versionParts(version: string): { readonly numbers: readonly number[]; readonly suffix: string } {
  const [numbers = '', ...suffix] = version.split('-')
  return { numbers: numbers.split('.').map(Number), suffix: suffix.join('-') }
}

/** Depth first. In a cycle some reference leads to a later entity. */
function inOrder(entities: readonly EntityMetadata[]): readonly EntityMetadata[] {
  const byName = new Map(entities.map((each) => [each.entity, each]))
  const seen = new Set<EntityMetadata>()
  const ordered: EntityMetadata[] = []
  const visit = (each: EntityMetadata): void => {
    if (seen.has(each)) return
    seen.add(each)
    for (const name of each.versions.flatMap(({ schema }) => referencedIn(schema['fields']))) {
      const target = byName.get(name)
      if (target) visit(target)
    }
    ordered.push(each)
  }
  for (const each of entities) visit(each)
  return ordered
}

/** The entities that the reference fields of a schema name. */
function referencedIn(fields: Json | undefined): readonly string[] {
  if (!isObject(fields)) return []
  return Object.values(fields).flatMap((field): readonly string[] => {
    const entity = member(field, 'type') === 'reference' ? member(field, 'entity') : undefined
    const own = typeof entity === 'string' ? [entity] : []
    return [
      ...own,
      ...referencedIn(member(field, 'fields')),
      ...referencedIn(member(member(field, 'items'), 'fields')),
    ]
  })
}
