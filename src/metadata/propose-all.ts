/** Proposes a list of metadata documents as one change: entities may refer to each other, and bring several versions. */
import { ServiceError } from '../base/errors.ts'
import { type Json, isArray, pointer, sameJson } from '../base/json/json.ts'
import type { Catalogue, Entity } from './catalogue.ts'
import { fault } from './documents/decode.ts'
import { type EntityInfo, printEntityInfo } from './documents/entity-info.ts'
import type { SchemaDocument } from './documents/schema-document.ts'
import { droppedBy } from './dropped.ts'
import type { Finding } from './finding.ts'
import { checkVersions } from './documents/sizes.ts'
import { withElementSteps } from './index-paths.ts'
import type { Proposal } from './validate/validate-change.ts'
import {
  type Proposed,
  type Sent,
  type VersionName,
  checkName,
  documentsOf,
  isUnchanged,
  readMetadata,
  textsOf,
} from './proposals.ts'

const MAX_DOCUMENTS = 1_000

interface ProposedAll {
  /** At most one for each entity. */
  readonly proposals: readonly Proposal[]
  /** For each document of the list, in its order: what it defines, and warnings about the way it is written. */
  readonly documents: readonly ListedDocument[]
}

export interface ListedDocument extends VersionName {
  readonly warnings: readonly Finding[]
}

export function proposeAll(catalogue: Catalogue, { body, configured, limits }: Sent): ProposedAll {
  const listed = documentsIn(body).map((each, i): Listed => {
    const at = pointer('', i)
    const { info, schema, warnings } = placed(at, () => readMetadata(each, { configured, limits, at }))
    placed(at, () => checkName(schema.name, info.name, 'schema/name'))
    return { info, schema, warnings, at }
  })
  const groups = [...Map.groupBy(listed, ({ info }) => info.name)]
  const proposed = groups.map(([name, group]) => {
    const entity = catalogue.entities.get(name)
    const texts = textsOf(entity)
    const { size: count } = new Set([
      ...(entity?.versions.keys() ?? []),
      ...group.map(({ schema }) => schema.version.value),
    ])
    if (count > texts.length) checkVersions({ entity: name, texts, count }, limits)
    return proposeGroup(entity, group)
  })
  const shared = new Map(groups.map(([name], i) => [name, proposed[i]!.warnings]))
  const deciding = new Set(groups.map(([, group]) => group.at(-1)!.schema))
  const documents = listed.map(({ info, schema, warnings }) => {
    const version = schema.version.value
    // Warnings about entity info belong to the document whose entity info is stored.
    const isLast = deciding.has(schema)
    const own = (shared.get(info.name) ?? []).filter(
      (each) => (each.version ?? (isLast && version)) === version,
    )
    return { entity: info.name, version, warnings: [...warnings, ...own] }
  })
  return { proposals: proposed.flatMap(({ proposal }) => proposal ?? []), documents }
}

/** The documents of a request, at least one. */
export function documentsIn(body: Json): readonly Json[] {
  if (!isArray(body) || body.length === 0) {
    const form = 'a list of metadata documents, [{"entityInfo": {…}, "schema": {…}}, …]'
    throw new ServiceError('crud:InvalidRequest', `the body must be ${form}`)
  }
  if (body.length <= MAX_DOCUMENTS) return body
  const problem = `a list has at most ${MAX_DOCUMENTS} metadata documents, not ${body.length}; send several lists`
  throw new ServiceError('crud:LimitExceeded', problem)
}

interface Listed {
  readonly info: EntityInfo
  readonly schema: SchemaDocument
  readonly warnings: readonly Finding[]
  /** JSON pointer into the request. */
  readonly at: string
}

/** The last document of an entity decides about its entity info, as if the documents were written one by one. */
function proposeGroup(entity: Entity | undefined, group: readonly Listed[]): Proposed {
  const last = group.at(-1)!
  const schemas = onlyOnce(group)
  const { info, warnings } = withElementSteps(last.info, [...documentsOf(entity), ...schemas])
  const all = [...warnings, ...droppedBy(entity?.info, info), ...overruledIn(group)]
  // Compared with the stored entity info, because another version of the list may bring new one.
  const added = schemas.filter((schema) => !entity || !isUnchanged(entity, entity.info, schema))
  if (added.length > 0) return { proposal: { info, schemas: added, isIntroduced: true }, warnings: all }
  // Without a new version, other entity info is refused as in a write of one document, except beside a SNAPSHOT.
  if (schemas.every((schema) => isUnchanged(entity!, info, schema)))
    return { proposal: undefined, warnings: all }
  return { proposal: { info, schemas, isIntroduced: true }, warnings: all }
}

function onlyOnce(group: readonly Listed[]): readonly SchemaDocument[] {
  const seen = new Map<string, Listed>()
  for (const each of group) {
    const version = each.schema.version.value
    if (seen.has(version)) {
      const problem = `version ${version} of ${each.info.name} is in the list twice; leave one of the documents out`
      throw fault('metadata:DuplicateSchema', problem, each.at)
    }
    seen.set(version, each)
  }
  return [...seen.values()].map(({ schema }) => schema)
}

function overruledIn(group: readonly Listed[]): readonly Finding[] {
  const last = group.at(-1)!
  const stored = printEntityInfo(last.info)
  const others = group.filter(({ info }) => !sameJson(printEntityInfo(info), stored))
  return others.map(({ at, info, schema }): Finding => {
    const msg = `the document at ${at} declares other entity info of "${info.name}" than the one at ${last.at}, which is stored`
    const version = schema.version.value
    return { severity: 'warning', code: 'entity-info-differs', at: '/entityInfo', version, msg }
  })
}

/** Names the document of the list in the context of its errors. */
function placed<T>(at: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof ServiceError) || error.context.startsWith(at.slice(1))) throw error
    throw error.within(at.slice(1))
  }
}
