/**
 * One round about types: two versions that disagree about them, documents of both, and requests and updates through
 * both. The evaluator and every store, with and without indexes, must answer alike.
 */
import { isDeepStrictEqual } from 'node:util'
import { ServiceError } from '../../../src/base/errors.ts'
import { type JsonObject, isArray, isObject } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { compileQuery } from '../../../src/lang/evaluate/match.ts'
import { parseProjection } from '../../../src/lang/parse/parse-projection.ts'
import { parseQuery } from '../../../src/lang/parse/parse-query.ts'
import { compileProjection } from '../../../src/lang/evaluate/project.ts'
import { resolveProjection, resolveQuery, resolveSort } from '../../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../../src/lang/resolve/scope.ts'
import { parseSort } from '../../../src/lang/sort.ts'
import type { Schema } from '../../../src/schema/schema.ts'
import { inOrder } from '../../support/in-order.ts'
import { compiledSchema } from '../../support/schema.ts'
import { ADMIN, EVERYTHING } from '../../support/service.ts'
import { sampleEvenly } from '../../support/chance.ts'
import { makeIndexes } from './make-documents.ts'
import { makeQuery, makeRequest } from './make-requests.ts'
import { type ObjectNode, printFields, withPredefined } from './model.ts'
import { reductions } from './reductions.ts'
import { makeTwoVersions } from './types-model.ts'
import {
  type TypesEntity,
  type TypesService,
  type TypesServices,
  VERSIONS,
  define,
  storedDocuments,
} from './types-services.ts'
import { makeUpdate } from './update-requests.ts'

export interface TypesResult {
  readonly answered: number
  readonly refused: number
  /** Answers with at least one document. */
  readonly filled: number
  /** Documents that updates changed, and that they could not change. */
  readonly modified: number
  readonly failed: number
}

interface Cases {
  readonly seed: number
  readonly requests: number
  /** After so many requests there is an update. */
  readonly perUpdate: number
}

export async function runTypesRound(
  { all }: TypesServices,
  { seed, requests, perUpdate }: Cases,
): Promise<TypesResult> {
  const entity = makeEntity(seed)
  const made = await Promise.all(all.map((tester) => define(entity, tester)))
  expectSame(
    'indexes',
    all.filter(({ isIndexed }) => isIndexed).map(({ name }) => name),
    made.filter((each) => each !== ''),
  )
  const arena: Arena = { entity, all, documents: storedDocuments(all[0]!, entity.name) }
  const result = { answered: 0, refused: 0, filled: 0, modified: 0, failed: 0 }
  for (let i = 0; i < requests; i++) {
    if (i % perUpdate === perUpdate - 1) await updateAll(arena, { seed: seed + i, result })
    const request = sampleEvenly(seed + i + 1, (chance) => {
      const version = chance.happens(50) ? 0 : 1
      return { version, body: makeRequest(chance, withPredefined(entity.versions[version])) } as const
    })
    const expected = evaluated(request, arena)
    const difference = await differenceOf(request, arena, expected)
    if (difference) throw new Error(await report(request, arena, `round ${seed}, request ${i}`))
    const { code, documents } = expected
    if (code === undefined) result.answered++
    else result.refused++
    if (documents.length > 0) result.filled++
  }
  return result
}

function makeEntity(seed: number): TypesEntity {
  const two = sampleEvenly(seed, makeTwoVersions)
  const kept = sampleEvenly(seed, (chance) => (chance.happens(50) ? 0 : 1))
  const made = sampleEvenly(seed, (chance) => makeIndexes(chance, two.versions[kept]))
  return { ...two, name: `t${seed >>> 0}`, kept, indexes: made.map(({ printed }) => printed) }
}

interface Arena {
  readonly entity: TypesEntity
  readonly all: readonly TypesService[]
  documents: readonly JsonObject[]
}

interface Request {
  readonly version: 0 | 1
  readonly body: JsonObject
}

interface Answer {
  readonly code?: string
  readonly documents: readonly string[]
  readonly matchCount: number
}

interface Difference {
  readonly way: string
  readonly expected: Answer
  readonly actual: Answer
}

async function differenceOf(
  request: Request,
  arena: Arena,
  expected = evaluated(request, arena),
): Promise<Difference | undefined> {
  const asked = arena.all.filter(({ isIndexed }) => !isIndexed || request.version === arena.entity.kept)
  const answers = await Promise.all(
    asked.map(async (tester) => ({
      way: tester.name,
      expected,
      actual: await served(request, tester, arena),
    })),
  )
  return answers.find(({ actual }) => !isDeepStrictEqual(actual, expected))
}

async function served(
  { version, body }: Request,
  { service }: TypesService,
  { entity }: Arena,
): Promise<Answer> {
  const target = { entity: entity.name, version: VERSIONS[version] }
  const { errors, processed = [], matchCount } = await service.data.find(ADMIN, target, body)
  if (errors) return { code: errors[0]!.errorCode, documents: [], matchCount }
  return { documents: [...processed], matchCount }
}

function evaluated({ version, body }: Request, { entity, documents }: Arena): Answer {
  try {
    const schema = schemaOf(entity, version)
    const scope = rootScope(schema)
    const { query, projection, sort = [] } = body
    const isMatch = query
      ? compileQuery(resolveQuery(parseQuery(query, '/query', DEFAULT_LIMITS), scope))
      : () => true
    const keys = resolveSort(parseSort(sort, '/sort'), scope)
    const items = resolveProjection(parseProjection(projection!, '/projection'), scope)
    const project = compileProjection(items, schema.root)
    const found = inOrder(
      documents.filter((value) => isMatch({ value })),
      keys,
    )
    return {
      documents: pageOf(body, found).map((each) => JSON.stringify(project(each, ''))),
      matchCount: found.length,
    }
  } catch (error) {
    if (error instanceof ServiceError) return { code: error.code, documents: [], matchCount: 0 }
    throw error
  }
}

function pageOf({ range, from, to, maxResults }: JsonObject, found: readonly JsonObject[]) {
  const [first, last] = isArray(range) ? range : [from, to]
  const start = typeof first === 'number' ? Math.max(first, 0) : 0
  const counted = typeof maxResults === 'number' ? start + maxResults - 1 : Infinity
  const end = typeof last === 'number' ? last : counted
  return found.filter((_, i) => i >= start && i <= end)
}

const schemas = new WeakMap<ObjectNode, Schema>()

function schemaOf({ name, versions }: TypesEntity, version: 0 | 1): Schema {
  const root = versions[version]
  const schema = schemas.get(root) ?? compiledSchema(name, printFields(root))
  schemas.set(root, schema)
  return schema
}

/** Through the version that all services have; what comes of it must be the same everywhere. */
async function updateAll(
  arena: Arena,
  { seed, result }: { readonly seed: number; readonly result: { modified: number; failed: number } },
): Promise<void> {
  const { entity, all } = arena
  const root = withPredefined(entity.versions[entity.kept])
  const body = sampleEvenly(seed, (chance): JsonObject => ({
    query: chance.happens(40) ? { $and: [] } : makeQuery(chance, [root], 2),
    update: makeUpdate(chance, root),
    projection: EVERYTHING,
  }))
  const target = { entity: entity.name, version: VERSIONS[entity.kept] }
  const responses = await Promise.all(all.map(({ service }) => service.data.update(ADMIN, target, body)))
  const reported = responses.map(
    ({ errors, processed = [], matchCount, modifiedCount, dataErrors = [] }) => ({
      errors: errors?.map(({ errorCode }) => errorCode),
      processed: processed.toSorted(),
      matchCount,
      modifiedCount,
      failed: dataErrors.map((each) => JSON.stringify(each)).toSorted(),
    }),
  )
  try {
    expectSame(
      'answers',
      all.map(({ name }) => name),
      reported,
    )
    arena.documents = storedDocuments(all[0]!, entity.name)
    expectSame(
      'documents',
      ['sqlite', 'sqlite with indexes'],
      [arena.documents, storedDocuments(all[1]!, entity.name)],
    )
  } catch (cause) {
    throw new Error(`update ${JSON.stringify(body)}\n${describe(entity)}`, { cause })
  }
  result.modified += reported[0]!.modifiedCount
  result.failed += reported[0]!.failed.length
}

function expectSame(what: string, names: readonly string[], values: readonly unknown[]): void {
  const odd = values.findIndex((value) => !isDeepStrictEqual(value, values[0]))
  if (odd === -1) return
  throw new Error(
    `${what} differ\n${names[0]} ${JSON.stringify(values[0])}\n${names[odd]} ${JSON.stringify(values[odd])}`,
  )
}

function describe({ versions, indexes, kept }: TypesEntity): string {
  const [first, second] = versions.map((root) => JSON.stringify(printFields(root)))
  return `1.0.0 ${first}\n2.0.0 ${second}\nindexes of ${VERSIONS[kept]} ${JSON.stringify(indexes)}`
}

async function report(request: Request, arena: Arena, about: string): Promise<string> {
  const body = await minimised(request, arena)
  const smallest = { ...request, body }
  const { way, expected, actual } = (await differenceOf(smallest, arena))!
  const { query = { $and: [] } } = body
  const ids = async (): Promise<string> => {
    const idOnly = { ...smallest, body: { query, projection: { field: '_id' } } }
    const found = await differenceOf(idOnly, arena)
    if (!found) return ''
    const odd = new Set(
      [...found.expected.documents].filter((each) => !found.actual.documents.includes(each)),
    )
    for (const each of found.actual.documents) if (!found.expected.documents.includes(each)) odd.add(each)
    const disputed = arena.documents.filter((each) => odd.has(JSON.stringify({ _id: each['_id'] })))
    return disputed
      .slice(0, 3)
      .map((each) => JSON.stringify(each))
      .join('\n')
  }
  return [
    `${way} differs from the evaluator; ${about}`,
    `request to ${VERSIONS[request.version]} ${JSON.stringify(body)}`,
    describe(arena.entity),
    `expected ${expected.code ?? ''} ${expected.matchCount} ${expected.documents.slice(0, 5).join('\n  ')}`,
    `actual ${actual.code ?? ''} ${actual.matchCount} ${actual.documents.slice(0, 5).join('\n  ')}`,
    await ids(),
  ].join('\n')
}

/** Takes parts away as long as the answers still differ. */
async function minimised(request: Request, arena: Arena): Promise<JsonObject> {
  let best = request.body
  for (let improved = true; improved;) {
    improved = false
    for (const body of reductions(best)) {
      if (!isObject(body)) continue
      const difference = await differenceOf({ ...request, body }, arena).catch(() => undefined)
      if (!difference || difference.expected.code !== undefined || difference.actual.code !== undefined)
        continue
      best = body
      improved = true
      break
    }
  }
  return best
}
