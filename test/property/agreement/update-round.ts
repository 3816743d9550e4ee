/**
 * One round of updates: a random schema, some documents, and a model that the reference keeps. After every update and
 * delete the services, one of them with indexes, must have answered as the model says; in the end they hold what it
 * holds.
 */
import { type Json, type JsonObject, sameJson } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { type DataResponse, printResponse } from '../../../src/service/response.ts'
import { ADMIN, EVERYTHING, type TestService, documentsOf } from '../../support/service.ts'
import { type Chance, sample } from '../../support/chance.ts'
import { makeDocuments, makeIndexes, makeSchema } from './make-documents.ts'
import { makeQuery } from './make-requests.ts'
import { type ObjectNode, type Simple, printFields, withPredefined } from './model.ts'
import { matches } from './reference-query.ts'
import { type Services, openServices } from './services.ts'
import { Unforeseeable, type Updated, updated } from './update-reference.ts'
import { makeUpdate } from './update-requests.ts'

export interface UpdateResult {
  readonly answered: number
  /** Requests that mean nothing; nothing may have changed. */
  readonly refused: number
  /** Documents that were changed, and that could not be. */
  readonly modified: number
  readonly failed: number
}

const DOCUMENTS = 6
/** Documents are replaced after this many cases, before random updates have made them all alike. */
const RESET_EVERY = 10
/** All stored documents are compared after this many cases; the answers after every case. */
const COMPARE_EVERY = 5

export interface UpdateRoundOptions {
  /** Whether the second service takes its collection for a large one, and looks for documents on another thread. */
  readonly isLarge?: boolean
  /** Whether only the service with indexes is asked. */
  readonly isAlone?: boolean
  /** Absent: services of its own. */
  readonly services?: Services
}

export async function runUpdateRound(
  seed: number,
  cases: number,
  { isLarge = false, isAlone = false, services }: UpdateRoundOptions = {},
): Promise<UpdateResult> {
  await using own = services ? undefined : await openServices()
  const { plain, indexed } = services ?? own!
  const declared = sample(seed, makeSchema)
  const root = withPredefined(declared)
  const indexes = sample(seed, (chance) => makeIndexes(chance, declared)).map(({ printed }) => ({
    ...printed,
    unique: false,
  }))
  // The entity of a round carries its seed in its name, so that rounds can share services.
  const entity = `t${seed >>> 0}`
  if (!isAlone) await plain.define(entity, printFields(declared))
  await indexed.define(entity, printFields(declared), { info: { indexes: isLarge ? [] : indexes } })
  const testers = (isAlone ? [indexed] : [plain, indexed]).map((tester) => ({ tester, entity }))
  const result = { answered: 0, refused: 0, modified: 0, failed: 0 }
  let model: readonly JsonObject[] = []
  for (let i = 0; i < cases; i++) {
    if (i % RESET_EVERY === 0) {
      const documents = sample(seed + i, makeFresh(declared))
      for (const each of testers) {
        const isFilled = isLarge && each.tester === indexed
        model = await refresh(each, documents, isFilled ? fillers(declared) : [])
      }
    }
    const request = sample(seed + i, makeCase(root))
    try {
      const isLast = i % COMPARE_EVERY === COMPARE_EVERY - 1
      model = await runCase(request, { root, model, testers, result, isLast })
    } catch (error) {
      const about = [
        `round ${seed}, case ${i}`,
        JSON.stringify(request),
        JSON.stringify(printFields(declared)),
      ]
      throw new Error(about.join('\n'), { cause: error })
    }
  }
  return result
}

const makeFresh = (root: ObjectNode) => (chance: Chance) => makeDocuments(chance, root, DOCUMENTS)

interface Case {
  readonly query: JsonObject
  /** Absent: delete. */
  readonly update?: Json
  /** Asked afterwards. */
  readonly asked: JsonObject
}

const makeCase =
  (root: ObjectNode) =>
  (chance: Chance): Case => ({
    query: chance.happens(60) ? { $and: [] } : makeQuery(chance, [root], 2),
    ...(chance.happens(97) && { update: makeUpdate(chance, root) }),
    asked: makeQuery(chance, [root], 2),
  })

/** Tables are taken for large by the number of their last row; those before it need not be there any more. */
async function refresh(
  { tester, entity }: Tested,
  documents: readonly JsonObject[],
  before: readonly JsonObject[] = [],
): Promise<readonly JsonObject[]> {
  const remove = (query: Json) => tester.service.data.delete(ADMIN, { entity }, { query })
  await remove({ $and: [] })
  if (before.length > 0) await tester.store(entity, before)
  const stored = await tester.store(entity, documents)
  if (before.length > 0)
    await remove({ field: '_id', op: '$in', values: before.map((document) => document['_id']!) })
  return stored
}

function fillers(root: ObjectNode): readonly JsonObject[] {
  const { type } = root.fields.get('_id') as Simple
  return Array.from({ length: 2001 }, (_, i) => {
    if (type === 'date') return { _id: new Date(i).toISOString() }
    return { _id: type === 'string' || type === 'uid' ? `filler ${i}` : 1000 + i }
  })
}

/** A service, and the name of the entity of the round in it. */
interface Tested {
  readonly tester: TestService
  readonly entity: string
}

interface State {
  readonly root: ObjectNode
  readonly model: readonly JsonObject[]
  readonly testers: readonly Tested[]
  readonly result: { answered: number; refused: number; modified: number; failed: number }
  /** Whether the documents start afresh, or are compared, after this case. */
  readonly isLast: boolean
}

async function runCase({ query, update, asked }: Case, state: State): Promise<readonly JsonObject[]> {
  const { root, model, testers, result, isLast } = state
  const isMatch = (document: JsonObject): boolean => matches(query, [], { root, document })
  const body = { query, ...(update !== undefined && { update }), projection: EVERYTHING }
  const foreseen = foresee(update, model.filter(isMatch), root)
  if (foreseen === 'unforeseeable') {
    result.answered++
    return model
  }
  const responses = await Promise.all(
    testers.map(({ tester: { service }, entity }) =>
      update === undefined
        ? service.data.delete(ADMIN, { entity }, body)
        : service.data.update(ADMIN, { entity }, body),
    ),
  )
  const isRefused = responses.some(({ errors }) => errors)
  if (!isRefused && foreseen instanceof Error) throw foreseen
  const outcomes = foreseen instanceof Error ? new Map<JsonObject, Updated>() : foreseen
  let after = model
  if (isRefused) result.refused++
  else {
    result.answered++
    after =
      update === undefined
        ? model.filter((document) => !isMatch(document))
        : model.map((document) => documentAfter(document, outcomes.get(document)))
    const expected = expectedOf(update, { model, isMatch, outcomes })
    result.modified += expected.modifiedCount
    result.failed += expected.failures.size
    for (const response of responses) checkResponse(response, expected)
  }
  if (isLast) for (const [i, each] of testers.entries()) await checkHeld(each, after, `in service ${i + 1}`)
  await checkFound(testers.at(-1)!, asked, { after, root })
  return after
}

/** What should become of the documents; an error where the request means nothing. */
function foresee(update: Json | undefined, documents: readonly JsonObject[], root: ObjectNode) {
  const outcomes = new Map<JsonObject, Updated>()
  if (update === undefined) return outcomes
  try {
    for (const document of documents) outcomes.set(document, updated(update, { root, document }))
    return outcomes
  } catch (error) {
    return error instanceof Unforeseeable ? 'unforeseeable' : (error as Error)
  }
}

function documentAfter(document: JsonObject, outcome: Updated | undefined): JsonObject {
  return outcome && 'document' in outcome ? outcome.document : document
}

interface Expected {
  readonly matchCount: number
  readonly modifiedCount: number
  readonly shown: ReadonlyMap<string, JsonObject>
  readonly failures: ReadonlyMap<string, string>
}

interface Outcomes {
  readonly model: readonly JsonObject[]
  readonly isMatch: (document: JsonObject) => boolean
  readonly outcomes: ReadonlyMap<JsonObject, Updated>
}

function expectedOf(update: Json | undefined, { model, isMatch, outcomes }: Outcomes): Expected {
  const matchCount = model.filter(isMatch).length
  if (update === undefined)
    return { matchCount, modifiedCount: matchCount, shown: new Map(), failures: new Map() }
  const shown = new Map<string, JsonObject>()
  const failures = new Map<string, string>()
  let modifiedCount = 0
  for (const [document, outcome] of outcomes) {
    if ('code' in outcome) failures.set(idOf(document), outcome.code)
    else {
      shown.set(idOf(document), outcome.document)
      if (!sameJson(document, outcome.document)) modifiedCount++
    }
  }
  return { matchCount, modifiedCount, shown, failures }
}

function checkResponse(response: DataResponse, expected: Expected): void {
  const shown = new Map(documentsOf(response).map((document) => [idOf(document), document]))
  const failures = new Map(
    (response.dataErrors ?? []).map(({ data, errors }) => [
      idOf(parseTrusted(data!) as JsonObject),
      errors.map(({ errorCode }) => errorCode).join(),
    ]),
  )
  const differences = [
    response.matchCount !== expected.matchCount &&
      `matchCount ${response.matchCount}, not ${expected.matchCount}`,
    response.modifiedCount !== expected.modifiedCount &&
      `modifiedCount ${response.modifiedCount}, not ${expected.modifiedCount}`,
    ...differing(shown, expected.shown),
    ...[...new Set([...failures.keys(), ...expected.failures.keys()])].map(
      (id) =>
        failures.get(id) !== expected.failures.get(id) &&
        `${id}: ${failures.get(id)}, not ${expected.failures.get(id)}`,
    ),
  ].filter((difference) => difference !== false)
  if (differences.length > 0)
    throw new Error(`${differences.slice(0, 4).join('\n')}\n${printResponse(response).slice(0, 300)}`)
}

function* differing(actual: ReadonlyMap<string, JsonObject>, expected: ReadonlyMap<string, JsonObject>) {
  for (const id of new Set([...actual.keys(), ...expected.keys()])) {
    if (sameJson(actual.get(id), expected.get(id))) continue
    yield `actual ${short(actual.get(id))}\nexpected ${short(expected.get(id))}`
  }
}

async function checkHeld(
  { tester, entity }: Tested,
  model: readonly JsonObject[],
  way: string,
): Promise<void> {
  const held = documentsOf(await tester.find(entity, { projection: EVERYTHING }))
  const byId = (documents: readonly JsonObject[]) => new Map(documents.map((each) => [idOf(each), each]))
  const [first] = differing(byId(held), byId(model))
  if (first !== undefined) throw new Error(`held ${way}: ${first}`)
}

interface Asked {
  readonly after: readonly JsonObject[]
  readonly root: ObjectNode
}

async function checkFound({ tester, entity }: Tested, query: JsonObject, { after, root }: Asked) {
  const response = await tester.find(entity, { query, projection: { field: '_id' } })
  if (response.errors) return
  const found = documentsOf(response).map(idOf).sort()
  const expected = after
    .filter((document) => matches(query, [], { root, document }))
    .map(idOf)
    .sort()
  if (found.join('\n') === expected.join('\n')) return
  throw new Error(`${JSON.stringify(query)} finds ${found.join()}, not ${expected.join()}`)
}

function short(document: JsonObject | undefined): string {
  return JSON.stringify(document ?? null).slice(0, 1000)
}

function idOf(document: JsonObject): string {
  return JSON.stringify(document['_id'])
}
