/**
 * One round: a random schema, some documents, many requests. Every request is answered by the evaluator of `src/lang`
 * and by a service, in turns one without and one with indexes, every fourth also by the reference beside this file; all
 * answers must be the same.
 */
import { ServiceError } from '../../../src/base/errors.ts'
import { type Json, type JsonObject, isArray, isObject, sameJson } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { compileQuery } from '../../../src/lang/evaluate/match.ts'
import { parseProjection } from '../../../src/lang/parse/parse-projection.ts'
import { parseQuery } from '../../../src/lang/parse/parse-query.ts'
import { compileProjection } from '../../../src/lang/evaluate/project.ts'
import { resolveProjection, resolveQuery, resolveSort } from '../../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../../src/lang/resolve/scope.ts'
import { parseSort } from '../../../src/lang/sort.ts'
import type { Schema } from '../../../src/schema/schema.ts'
import { foldCase } from '../../../src/base/text.ts'
import { inOrder } from '../../support/in-order.ts'
import { compiledSchema } from '../../support/schema.ts'
import type { TestService } from '../../support/service.ts'
import { type Chance, sample } from '../../support/chance.ts'
import { type IndexSpec, makeDocuments, makeIndexes, makeSchema } from './make-documents.ts'
import { makeKeyset } from './make-keysets.ts'
import { makeLiteral, makeQuery, makeRequest } from './make-requests.ts'
import { type ObjectNode, type Simple, printFields, withPredefined } from './model.ts'
import { reductions } from './reductions.ts'
import { project } from './reference-projection.ts'
import { comparable, compare, compareDocuments, matches } from './reference-query.ts'
import { type Services, openServices } from './services.ts'

export interface RoundResult {
  /** Requests that all ways that were asked answered alike. */
  readonly answered: number
  /** Requests refused, by all alike. */
  readonly refused: number
  /** Answers with at least one document. */
  readonly filled: number
}

const DOCUMENTS = 16

/** A round without services given has some of its own. */
export async function runRound(seed: number, requests: number, services?: Services): Promise<RoundResult> {
  await using own = services ? undefined : await openServices()
  const arena = await openArena(seed, services ?? own!)
  const answers: Answer[] = []
  for (let i = 0; i < requests; i++) {
    const request = requestOf(arena, seed, i)
    const answer = await arena.byEvaluator(request)
    if (await differenceOf(arena, request, { expected: answer, ways: waysFor(i) })) {
      throw new Error(await report(arena, request, { seed, i }))
    }
    answers.push(answer)
    if (i % SPLIT === SPLIT - 1) checkSplit(answers.slice(-3), request, `round ${seed}, request ${i}`)
  }
  const isPushable = ({ code }: Answer): boolean => code === undefined
  return {
    answered: answers.filter(isPushable).length,
    refused: answers.filter((each) => !isPushable(each)).length,
    filled: answers.filter(({ documents }) => documents.length > 0).length,
  }
}

/** Of so many requests the last two ask for the two parts into which some P splits the query of the one before them. */
const SPLIT = 16

function requestOf({ root, indexes }: Arena, seed: number, i: number): JsonObject {
  const own = (index: number): JsonObject =>
    sample(seed + index + 1, (chance) => ({
      ...makeRequest(chance, root),
      ...(index % KEYSET === 1 && inOrderOfIndex(chance, root, indexes)),
    }))
  const part = (i % SPLIT) - (SPLIT - 2)
  if (part < 0) return own(i)
  const whole = i - part - 1
  const { query = { $and: [] } } = own(whole)
  const p = sample(-1 - seed - whole, (chance) => makeQuery(chance, [root], 2))
  return { ...own(i), query: { $and: [query, part === 0 ? p : { $not: p }] } }
}

/** Of so many requests, one asks for the rows after another row in the order of an index, of which a bound follows. */
const KEYSET = 8

function inOrderOfIndex(chance: Chance, root: ObjectNode, indexes: readonly IndexSpec[]): JsonObject {
  const ordered = indexes.filter(({ fields }) => fields.every(({ path }) => !path.includes('*')))
  if (ordered.length === 0) return {}
  const { fields } = chance.pick(ordered)
  const skipped = chance.int(fields.length)
  const keys = [...fields.slice(skipped), { path: '_id', type: (root.fields.get('_id') as Simple).type }]
  const key = () => {
    const next = keys.shift()
    return (
      next && { path: next.path, literal: () => makeLiteral(chance, { kind: 'simple', type: next.type }) }
    )
  }
  const other = (): JsonObject => makeQuery(chance, [root], 1)
  return { query: makeKeyset(chance, { key, other })! }
}

/** Whatever P is, a query finds what it finds together with P and what it finds together with its contrary. */
function checkSplit(answers: readonly Answer[], request: JsonObject, about: string): void {
  if (answers.some(({ code }) => code !== undefined)) return
  const [whole, inside, outside] = answers.map(({ matchCount }) => matchCount) as [number, number, number]
  if (whole === inside + outside) return
  throw new Error(
    `${about}: Q is not (Q and P) or (Q and not P), ${whole} is not ${inside} and ${outside}: ${JSON.stringify(request)}`,
  )
}

type Way = 'byService' | 'byIndexes' | 'byReference'

const ALL_WAYS: readonly Way[] = ['byService', 'byIndexes', 'byReference']

/** The evaluator, which all others are held to, meets each of them often enough. */
function waysFor(i: number): readonly Way[] {
  const service = i % 2 === 0 ? 'byService' : 'byIndexes'
  return i % 4 === 0 ? [service, 'byReference'] : [service]
}

interface Answer {
  readonly code?: string
  readonly documents: readonly string[]
  readonly matchCount: number
}

interface Arena {
  readonly root: ObjectNode
  readonly documents: readonly JsonObject[]
  readonly indexes: readonly IndexSpec[]
  readonly byEvaluator: (request: JsonObject) => Promise<Answer>
  readonly byReference: (request: JsonObject) => Promise<Answer>
  readonly byService: (request: JsonObject) => Promise<Answer>
  readonly byIndexes: (request: JsonObject) => Promise<Answer>
}

/** The entity of a round carries its seed in its name, so that rounds can share services. */
async function openArena(seed: number, { plain, indexed }: Services): Promise<Arena> {
  const name = `t${seed >>> 0}`
  const declared = sample(seed, makeSchema)
  const root = withPredefined(declared)
  const sent = sample(seed, (chance) => makeDocuments(chance, declared, DOCUMENTS))
  const indexes = sample(seed, (chance) => makeIndexes(chance, declared)).map((index) =>
    index.unique && repeats(index, sent)
      ? { ...index, unique: false, printed: { ...index.printed, unique: false } }
      : index,
  )
  await plain.define(name, printFields(declared))
  await indexed.define(name, printFields(declared), {
    info: { indexes: indexes.map(({ printed }) => printed) },
  })
  const documents = await plain.store(name, sent)
  await indexed.store(name, sent)
  checkStored(name, sent, documents)
  const schema = compiledSchema(name, printFields(declared))
  return {
    root,
    documents,
    indexes,
    byEvaluator: async (request) => evaluated(request, schema, documents),
    byReference: async (request) => referred(request, root, documents),
    byService: (request) => served(plain, name, request),
    byIndexes: (request) => served(indexed, name, request),
  }
}

/** What was sent is what is stored, digit for digit; only sizes and the type are added. */
function checkStored(name: string, sent: readonly JsonObject[], stored: readonly JsonObject[]): void {
  for (const [i, document] of sent.entries()) {
    const { objectType, ...rest } = stored[i]!
    if (objectType === name && sameJson(withoutSizes(rest), document)) continue
    throw new Error(`sent ${JSON.stringify(document)}\nstored ${JSON.stringify(stored[i])}`)
  }
}

function withoutSizes(value: Json): Json {
  if (isArray(value)) return value.map(withoutSizes)
  if (!isObject(value)) return value
  const members = Object.entries(value).filter(
    ([name]) => !(name.endsWith('#') && typeof value[name] === 'number'),
  )
  return Object.fromEntries(members.map(([name, child]) => [name, withoutSizes(child)]))
}

/** Whether two documents hold the same under a unique index; those that lack every field do not count. */
function repeats({ fields }: IndexSpec, documents: readonly JsonObject[]): boolean {
  const keys = documents.map((document) =>
    fields.map(({ path, type, caseInsensitive }) => {
      let value: Json | undefined = document
      for (const step of path.split('.'))
        value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
      const folded = caseInsensitive && typeof value === 'string' ? foldCase(value) : value
      return comparable(folded, type)
    }),
  )
  const held = keys.filter((key) => key.some((part) => part !== null))
  return held.some((a, i) => held.slice(i + 1).some((b) => a.every((part, k) => compare(part, b[k]!) === 0)))
}

function evaluated(request: JsonObject, schema: Schema, documents: readonly JsonObject[]): Answer {
  try {
    const scope = rootScope(schema)
    const { query, projection, sort } = request
    const isMatch =
      query === undefined
        ? () => true
        : compileQuery(resolveQuery(parseQuery(query, '/query', DEFAULT_LIMITS), scope))
    const keys = resolveSort(sort === undefined ? [] : parseSort(sort, '/sort'), scope)
    const projector = compileProjection(
      resolveProjection(parseProjection(projection!, '/projection'), scope),
      schema.root,
    )
    const found = inOrder(
      documents.filter((document) => isMatch({ value: document })),
      keys,
    )
    return page(request, found, (document) => JSON.stringify(projector(document, '')))
  } catch (error) {
    if (error instanceof ServiceError) return { code: error.code, documents: [], matchCount: 0 }
    throw error
  }
}

function referred(request: JsonObject, root: ObjectNode, documents: readonly JsonObject[]): Answer {
  const { query, projection, sort } = request
  const found = documents
    .filter((document) => query === undefined || matches(query as JsonObject, [], { root, document }))
    .sort(compareDocuments(sort ?? [], root))
  return page(request, found, (document) => JSON.stringify(project(projection!, { root, document })))
}

function page(
  request: JsonObject,
  found: readonly JsonObject[],
  print: (document: JsonObject) => string,
): Answer {
  const { range, from, to, maxResults } = request
  const [first, last] = isArray(range) ? range : [from, to]
  const start = typeof first === 'number' ? Math.max(first, 0) : 0
  const counted = typeof maxResults === 'number' ? start + maxResults - 1 : undefined
  const end = typeof last === 'number' ? last : (counted ?? Infinity)
  const shown = found.filter((_, i) => i >= start && i <= end)
  return { documents: shown.map(print), matchCount: found.length }
}

async function served(tester: TestService, name: string, request: JsonObject): Promise<Answer> {
  const { errors, processed = [], matchCount } = await tester.find(name, request)
  if (errors) return { code: errors[0]!.errorCode, documents: [], matchCount }
  return { documents: processed, matchCount }
}

interface Expectation {
  readonly expected: Answer
  readonly ways?: readonly Way[]
}

interface Difference {
  readonly way: string
  readonly expected: Answer
  readonly actual: Answer
}

/** The first way to answer that answers otherwise than the evaluator. What is refused, the reference cannot tell. */
async function differenceOf(
  arena: Arena,
  request: JsonObject,
  { expected, ways = ALL_WAYS }: Expectation,
): Promise<Difference | undefined> {
  const asked = expected.code === undefined ? ways : ways.filter((way) => way !== 'byReference')
  const answers = await Promise.all(
    asked.map(async (way) => ({ way, expected, actual: await arena[way](request) })),
  )
  return answers.find(({ actual }) => !isSame(expected, actual))
}

function isSame(a: Answer, b: Answer): boolean {
  return (
    a.code === b.code &&
    a.matchCount === b.matchCount &&
    a.documents.length === b.documents.length &&
    a.documents.every((document, i) => document === b.documents[i])
  )
}

async function report(
  arena: Arena,
  request: JsonObject,
  { seed, i }: { seed: number; i: number },
): Promise<string> {
  const smallest = await minimised(arena, request)
  const answer = await arena.byEvaluator(smallest)
  const { way, expected, actual } = (await differenceOf(arena, smallest, { expected: answer }))!
  const lines = [
    `${way} differs from the evaluator; round ${seed}, request ${i}`,
    `request ${JSON.stringify(smallest)}`,
    `fields ${JSON.stringify(printFields(arena.root))}`,
    `indexes ${JSON.stringify(arena.indexes.map(({ printed }) => printed))}`,
    `expected ${expected.code ?? ''} ${expected.matchCount} ${expected.documents.slice(0, 5).join('\n  ')}`,
    `actual ${actual.code ?? ''} ${actual.matchCount} ${actual.documents.slice(0, 5).join('\n  ')}`,
    ...disputed(arena, smallest, actual, expected),
  ]
  return lines.join('\n')
}

/** The stored documents that only one of the two answers holds, found by their place when texts are projected. */
function disputed(arena: Arena, request: JsonObject, actual: Answer, expected: Answer): readonly string[] {
  const odd = new Set([
    ...expected.documents.filter((each) => !actual.documents.includes(each)),
    ...actual.documents.filter((each) => !expected.documents.includes(each)),
  ])
  return arena.documents
    .filter((document) => {
      const text = JSON.stringify(project(request['projection']!, { root: arena.root, document }))
      return odd.has(text) || odd.has(JSON.stringify(document))
    })
    .slice(0, 2)
    .map((document) => `document ${JSON.stringify(document)}`)
}

/** Takes parts away as long as the answers still differ. */
async function minimised(arena: Arena, request: JsonObject): Promise<JsonObject> {
  let best = request
  for (let improved = true; improved;) {
    improved = false
    for (const smaller of reductions(best)) {
      if (!isObject(smaller)) continue
      const difference = await arena
        .byEvaluator(smaller)
        .then((expected) => differenceOf(arena, smaller, { expected }))
        .catch(() => undefined)
      if (!difference || difference.actual.code !== undefined || difference.expected.code !== undefined)
        continue
      best = smaller
      improved = true
      break
    }
  }
  return best
}

/** For a closer look at one request of a round. */
export async function replay(seed: number, request: string): Promise<void> {
  await using services = await openServices()
  const arena = await openArena(seed, services)
  const body = parseTrusted(request) as JsonObject
  for (const way of ['byEvaluator', 'byReference', 'byService', 'byIndexes'] as const) {
    console.log(way, await arena[way](body))
  }
}
