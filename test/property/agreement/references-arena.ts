/** Entities that refer to each other, their documents, and everyone who can be asked about them. */
import { ServiceError } from '../../../src/base/errors.ts'
import { type Json, type JsonObject, isArray, isObject } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { parseSort } from '../../../src/lang/sort.ts'
import type { Schema } from '../../../src/schema/schema.ts'
import { createEvaluator } from '../../support/references-evaluator.ts'
import type { ReferencesService } from '../../support/references-service.ts'
import { compiledSchema } from '../../support/schema.ts'
import { ADMIN } from '../../support/service.ts'
import { sampleEvenly } from '../../support/chance.ts'
import { makeIndexes } from './make-documents.ts'
import type { ReferenceRequest } from './make-reference-requests.ts'
import { makeEntities, makeHeld } from './make-references.ts'
import { compareDocuments, matches } from './reference-query.ts'
import { followedBy, followedBySort } from './reference-follow.ts'
import { type Holdings, assembled } from './reference-join.ts'
import { project } from './reference-projection.ts'
import { type Entity, printEntity, unfolded } from './references-model.ts'

export interface Answer {
  readonly code?: string
  /** As texts. */
  readonly documents: readonly string[]
  readonly matchCount: number
}

/** Which documents are found, by their `_id` as text. */
export interface FoundIds extends Answer {
  readonly ids: readonly string[]
}

export interface Arena {
  readonly holdings: Holdings
  readonly indexes: ReadonlyMap<string, readonly JsonObject[]>
  /** Only finds documents, and shows nothing of them. */
  readonly byEvaluator: (request: ReferenceRequest) => FoundIds
  readonly byReference: (request: ReferenceRequest) => FoundIds
  readonly byService: (tester: ReferencesService, request: ReferenceRequest) => Promise<Answer>
}

/** The entities of a round carry its number in their names, so that rounds can share services. */
export async function openArena(seed: number, testers: readonly ReferencesService[]): Promise<Arena> {
  const entities = sampleEvenly(seed, (chance) => makeEntities(chance, `${seed}`))
  const sent = sampleEvenly(seed + 1, (chance) => makeHeld(chance, entities))
  const isIndexed = sampleEvenly(seed + 2, (chance) => chance.happens(50))
  const indexes = new Map(
    [...entities].map(([name, { root }], i) => {
      const made = isIndexed ? sampleEvenly(seed + i, (chance) => makeIndexes(chance, root)) : []
      return [name, made.map(({ printed }) => ({ ...printed, unique: false }))]
    }),
  )
  const definitions = [...entities.values()].map((entity) => ({
    name: entity.name,
    fields: printEntity(entity),
    info: { indexes: indexes.get(entity.name)! },
  }))
  const documents = new Map<string, readonly JsonObject[]>()
  await Promise.all(
    testers.map(async (tester) => {
      await tester.define(definitions)
      for (const [name, list] of sent) documents.set(name, await tester.store(name, list))
    }),
  )
  return arenaOf({ entities, documents }, indexes)
}

export function arenaOf(holdings: Holdings, indexes: Arena['indexes']): Arena {
  return {
    holdings,
    indexes,
    byEvaluator: evaluatorOf(holdings),
    byReference: (request) => referred(request, holdings),
    byService: served,
  }
}

const knownSchemas = new WeakMap<Entity, Schema>()

/** Entities stay the same while their documents change. */
function schemaOf(entity: Entity): Schema {
  const schema = knownSchemas.get(entity) ?? compiledSchema(entity.name, printEntity(entity))
  knownSchemas.set(entity, schema)
  return schema
}

function evaluatorOf({ entities, documents }: Holdings): Arena['byEvaluator'] {
  const schemas = new Map([...entities].map(([name, entity]) => [name, schemaOf(entity)]))
  const { matching, inOrder } = createEvaluator({
    schemaOf: (entity) => schemas.get(entity)!,
    documentsOf: (entity) => documents.get(entity)!,
  })
  return ({ entity, body }) => {
    try {
      const { query = { $and: [] }, sort = [] } = body
      const keys = isArray(sort) && sort.length === 0 ? [] : parseSort(sort, '/sort')
      return page(body, inOrder(entity, matching(entity, query), keys))
    } catch (error) {
      if (error instanceof ServiceError) return { code: error.code, ids: [], documents: [], matchCount: 0 }
      throw error
    }
  }
}

function referred({ entity, body }: ReferenceRequest, holdings: Holdings): FoundIds {
  const { entities } = holdings
  const { query, projection, sort } = body
  const followed = followedBy(body, entity, entities)
  const asked = unfolded(entity, { entities, followed, isCounted: true })
  const shown = unfolded(entity, { entities, followed, isCounted: false })
  const isMatch = (document: JsonObject): boolean => {
    const whole = assembled(entity, document, { holdings, followed, purpose: 'ask' })
    return matches(query as JsonObject, [], { root: asked, document: whole })
  }
  // The documents of a reference are sorted by as the elements of an array are.
  const sorted = followedBySort(sort ?? [], entity, entities)
  const compare = compareDocuments(
    sort ?? [],
    unfolded(entity, { entities, followed: sorted, isCounted: true }),
  )
  const sortedAs = (document: JsonObject): JsonObject =>
    assembled(entity, document, { holdings, followed: sorted, purpose: 'ask' })
  const found = holdings.documents
    .get(entity)!
    .filter((document) => query === undefined || isMatch(document))
    .sort((a, b) => compare(sortedAs(a), sortedAs(b)))
  return page(body, found, (document) => {
    const whole = assembled(entity, document, { holdings, followed, purpose: 'show' })
    return canonical(project(projection!, { root: shown, document: whole }))
  })
}

function page(
  body: JsonObject,
  found: readonly JsonObject[],
  print?: (document: JsonObject) => string,
): FoundIds {
  const { range, from, to, maxResults } = body
  const [first, last] = isArray(range) ? range : [from, to]
  const start = typeof first === 'number' ? Math.max(first, 0) : 0
  const counted = typeof maxResults === 'number' ? start + maxResults - 1 : undefined
  const end = typeof last === 'number' ? last : (counted ?? Infinity)
  const shown = found.filter((_, i) => i >= start && i <= end)
  return {
    ids: shown.map(({ _id }) => JSON.stringify(_id)),
    documents: print ? shown.map(print) : [],
    matchCount: found.length,
  }
}

async function served({ service }: ReferencesService, { entity, body }: ReferenceRequest): Promise<Answer> {
  try {
    const { errors, processed = [], matchCount } = await service.data.find(ADMIN, { entity }, body)
    if (errors) return { code: errors[0]!.errorCode, documents: [], matchCount }
    return { documents: processed, matchCount }
  } catch (error) {
    return { code: String(error), documents: [], matchCount: 0 }
  }
}

/**
 * The text of a document whose members are in the order of their names, without what is empty in it: whether an object
 * that holds nothing but references is shown as an empty one is left open where these are not shown.
 */
export function canonical(value: Json): string {
  return JSON.stringify(settled(value) ?? {})
}

export function canonicalText(text: string): string {
  return canonical(parseTrusted(text))
}

/** Undefined where nothing is left; an array that was stored empty stays. */
function settled(value: Json): Json | undefined {
  if (isArray(value)) {
    const left = value.map(settled).filter((each) => each !== undefined)
    return left.length === 0 && value.length > 0 ? undefined : left
  }
  if (!isObject(value)) return value
  const members = Object.keys(value)
    .sort()
    .map((name) => [name, settled(value[name]!)] as const)
    .filter(([, each]) => each !== undefined)
  return members.length === 0 ? undefined : (Object.fromEntries(members) as JsonObject)
}
