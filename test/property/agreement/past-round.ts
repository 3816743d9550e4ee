/**
 * One round of looking back: random entities that refer to each other and keep their history, random writes, and after
 * each write some random requests. What they were answered, by the service and by the evaluator on the documents of
 * that moment, they must be answered as of that moment for ever after.
 */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { microseconds } from '../../../src/store/clock.ts'
import { printTimestamp } from '../../../src/store/history.ts'
import { type DataResponse, printResponse } from '../../../src/service/response.ts'
import type { ReferencesService } from '../../support/references-service.ts'
import { ADMIN, EVERYTHING, documentsOf } from '../../support/service.ts'
import { type Chance, sampleEvenly } from '../../support/chance.ts'
import { makeIndexes } from './make-documents.ts'
import { type ReferenceRequest, makeReferenceRequest } from './make-reference-requests.ts'
import { makeEntities, makeHeld } from './make-references.ts'
import { makeCompare } from './make-requests.ts'
import { withPredefined } from './model.ts'
import { fanOutOf } from './reference-join.ts'
import { type FoundIds, arenaOf } from './references-arena.ts'
import { TOO_DEEP } from './references-difference.ts'
import { type Entities, type Entity, printEntity } from './references-model.ts'
import { makeUpdate } from './update-requests.ts'

export interface PastResult {
  readonly asked: number
  /** Answers with at least one document. */
  readonly filled: number
  /** Answers that were compared with those of now, and those of them that are others by now. */
  readonly compared: number
  readonly changed: number
}

/** It takes no more to see whether looking back is looking at something else. */
const COMPARED = 5

interface Round {
  readonly seed: number
  readonly writes: number
  /** Requests after each write. */
  readonly requests: number
}

interface Recorded {
  readonly request: ReferenceRequest
  /** As history and `asOf` write it. */
  readonly moment: string
  readonly answer: string
  readonly evaluated: FoundIds
}

export async function runPastRound(
  tester: ReferencesService,
  { seed, writes, requests }: Round,
): Promise<PastResult> {
  const { service } = tester
  const entities = sampleEvenly(seed, (chance) => makeEntities(chance, `p${seed}`))
  await tester.define([...entities.values()].map((entity, i) => definitionOf(entity, seed + i)))
  for (const [name, list] of sampleEvenly(seed + 1, (chance) => makeHeld(chance, entities)))
    await tester.store(name, list)
  const recorded: Recorded[] = []
  for (let i = 0; i < writes; i++) {
    await sampleEvenly(seed + i, (chance) => makeWrite(chance, entities, seed + i))(service.data)
    const documents = await documentsNow(service.data, entities)
    const arena = arenaOf({ entities, documents }, new Map())
    const subject = { entities, fanOut: fanOutOf(arena.holdings) }
    const moment = printTimestamp(microseconds())
    for (let k = 0; k < requests; k++) {
      const request = sampleEvenly(seed + 1_000 * i + k, (chance) => makeReferenceRequest(chance, subject))
      const answer = printResponse(await find(service.data, request))
      recorded.push({ request, moment, answer, evaluated: arena.byEvaluator(request) })
    }
  }
  const result = { asked: 0, filled: 0, compared: 0, changed: 0 }
  for (const [i, each] of recorded.entries()) {
    await askAgain(service.data, each, result)
    if (i % COMPARED === 0) await compareWithNow(service.data, each, result)
  }
  return result
}

type Data = ReferencesService['service']['data']

function definitionOf(entity: Entity, seed: number) {
  const isIndexed = sampleEvenly(seed, (chance) => chance.happens(50))
  const made = isIndexed ? sampleEvenly(seed, (chance) => makeIndexes(chance, entity.root)) : []
  const indexes = made.map(({ printed }) => ({ ...printed, unique: false }))
  return { name: entity.name, fields: printEntity(entity), info: { indexes, history: true } }
}

async function documentsNow(
  data: Data,
  entities: Entities,
): Promise<ReadonlyMap<string, readonly JsonObject[]>> {
  const documents = new Map<string, readonly JsonObject[]>()
  for (const entity of entities.keys()) {
    documents.set(entity, documentsOf(await data.find(ADMIN, { entity }, { projection: EVERYTHING })))
  }
  return documents
}

function find(data: Data, { entity, body }: ReferenceRequest): Promise<DataResponse> {
  return data.find(ADMIN, { entity }, body)
}

async function askAgain(
  data: Data,
  { request, moment, answer, evaluated }: Recorded,
  result: { asked: number; filled: number },
): Promise<void> {
  const { entity, body } = request
  const past = await data.find(ADMIN, { entity }, { ...body, asOf: moment })
  const code = past.errors?.[0]?.errorCode
  const isSame = printResponse(past) === answer
  // The evaluator is not shown the projection, which may nest too deeply.
  const isEvaluated =
    code === TOO_DEEP || (code === evaluated.code && past.matchCount === evaluated.matchCount)
  if (!isSame || !isEvaluated) {
    const about = { entity, body, moment, before: answer, asOf: printResponse(past), evaluated }
    throw new Error(JSON.stringify(about, null, 1))
  }
  result.asked++
  if (evaluated.ids.length > 0) result.filled++
}

async function compareWithNow(
  data: Data,
  { request, answer }: Recorded,
  result: { compared: number; changed: number },
): Promise<void> {
  result.compared++
  if (printResponse(await find(data, request)) !== answer) result.changed++
}

type Write = (data: Data) => Promise<unknown>

/** Whatever comes of it: some is refused, and some changes nothing. */
function makeWrite(chance: Chance, entities: Entities, seed: number): Write {
  const steps = Array.from({ length: chance.happens(30) ? 3 : 1 }, () => makeStep(chance, entities, seed))
  if (steps.length === 1) {
    const [{ op, request }] = steps as [Step]
    return (data) => data[op](ADMIN, { entity: request.entity }, request)
  }
  // a bulk is one transaction, and a transaction is in one place
  const [first] = steps as [Step]
  const together = steps.filter(({ request }) => request.entity === first.request.entity)
  const requests = together.map(({ op, request }, seq) => ({ seq, op, request }))
  const atomic = chance.happens(80)
  return (data) => data.bulk(ADMIN, { atomic, requests })
}

interface Step {
  readonly op: 'insert' | 'save' | 'update' | 'delete'
  readonly request: JsonObject & { readonly entity: string }
}

function makeStep(chance: Chance, entities: Entities, seed: number): Step {
  const { name: entity, root } = chance.pick([...entities.values()])
  const whole = withPredefined(root)
  const held = sampleEvenly(seed + chance.int(1_000), (other) => makeHeld(other, entities)).get(entity)!
  const some = held.filter(() => chance.happens(30))
  const one: JsonObject = { field: '_id', op: '=', rvalue: chance.pick(held)['_id'] as Json }
  const query = chance.happens(70) ? one : makeCompare(chance, [whole])
  const kind = chance.int(100)
  if (kind < 20) return { op: 'insert', request: { entity, data: [...some] } }
  if (kind < 45) return { op: 'save', request: { entity, data: [...some], upsert: true } }
  if (kind < 75) return { op: 'update', request: { entity, query, update: makeUpdate(chance, whole) } }
  return { op: 'delete', request: { entity, query } }
}
