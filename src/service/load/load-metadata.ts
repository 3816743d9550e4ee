/** Writes the metadata of entities that come from another system. Writing the same metadata again changes nothing. */
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, member, sameJson } from '../../base/json/json.ts'
import type { Datasources } from '../../metadata/documents/datastore.ts'
import { parseEntityInfo, printEntityInfo } from '../../metadata/documents/entity-info.ts'
import type { Registry } from '../../metadata/registry.ts'
import type { MetadataService } from '../service.ts'

export interface EntityToLoad {
  readonly entity: string
  readonly info: JsonObject
  /** Oldest first. */
  readonly versions: readonly { readonly version: string; readonly schema: JsonObject }[]
}

export interface LoadedMetadata {
  /** Warnings of the writes, each with the entity. */
  readonly warnings: readonly { readonly entity: string; readonly warning: Json }[]
  readonly refused: readonly { readonly entity: string; readonly error: ServiceError }[]
}

interface MetadataTarget {
  readonly metadata: MetadataService
  readonly registry: Registry
  readonly configured: Datasources
  readonly caller: Caller
}

/**
 * New entities are written together, because they may refer to each other. If one is refused, all are written one by one:
 * entities that are refused do not keep the others from being written, so that one run finds all problems.
 */
export async function loadMetadata(
  entities: readonly EntityToLoad[],
  target: MetadataTarget,
): Promise<LoadedMetadata> {
  const warnings: { entity: string; warning: Json }[] = []
  const refused: { entity: string; error: ServiceError }[] = []
  const note = (entity: string, answer: Json): void => {
    const own = member(answer, 'warnings')
    for (const warning of isArray(own) ? own : []) warnings.push({ entity, warning })
  }
  const together = await loadTogether(entities, target)
  for (const { entity, answer } of together) note(entity, answer)
  const loaded = new Set(together.map(({ entity }) => entity))
  for (const each of entities.filter(({ entity }) => !loaded.has(entity))) {
    try {
      for (const answer of await loadEntity(each, target)) note(each.entity, answer)
    } catch (error) {
      if (isFatal(error)) throw error
      refused.push({ entity: each.entity, error: error as ServiceError })
    }
  }
  return { warnings, refused }
}

function isFatal(error: unknown): boolean {
  return !(error instanceof ServiceError) || error.code === 'crud:Unavailable'
}

/** Returns what was written: all new entities, or none. */
async function loadTogether(
  entities: readonly EntityToLoad[],
  { metadata, registry, caller }: MetadataTarget,
): Promise<readonly { readonly entity: string; readonly answer: Json }[]> {
  const known = new Set(registry.names())
  const listed = entities
    .filter(({ entity }) => !known.has(entity))
    .flatMap(({ entity, info, versions }) =>
      versions.map(({ schema }) => ({ entity, document: { entityInfo: info, schema } })),
    )
  if (listed.length === 0) return []
  try {
    const answers = await metadata.createAll(
      caller,
      listed.map(({ document }) => document),
    )
    return listed.map(({ entity }, i) => ({ entity, answer: (answers as readonly Json[])[i]! }))
  } catch (error) {
    if (isFatal(error)) throw error
    return []
  }
}

/**
 * The first version is created with the least entity info, because a default version, indexes and hooks may concern later
 * versions. Entity info as a whole comes last.
 */
async function loadEntity(
  { entity, info, versions }: EntityToLoad,
  target: MetadataTarget,
): Promise<readonly Json[]> {
  const { metadata, registry, configured, caller } = target
  const answers: Json[] = []
  const isNew = !registry.names().includes(entity)
  for (const [i, { version, schema }] of versions.entries()) {
    const { name = entity, datastore = {}, enums = [] } = info
    const document = { entityInfo: { name, datastore, enums }, schema }
    const place = { entity, version }
    answers.push(
      isNew && i === 0
        ? await metadata.create(caller, place, document)
        : await metadata.createSchema(caller, place, schema),
    )
  }
  const wanted = printEntityInfo(parseEntityInfo(info, '', configured))
  if (sameJson(printEntityInfo(registry.infoOf(entity)), wanted)) return answers
  return [...answers, await metadata.updateInfo(caller, entity, info)]
}
