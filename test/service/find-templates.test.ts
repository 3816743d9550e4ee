/** What is asked again and again is answered as what is asked for the first time, whatever the texts it compares with. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../src/access/caller.ts'
import { type Json, type JsonObject, isArray, isObject } from '../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { planFind } from '../../src/plan/read.ts'
import { originOf } from '../../src/plan/template.ts'
import { allowedFind } from '../../src/service/read/find.ts'
import { type PreparedFind, preparedOnce } from '../../src/service/read/prepared/prepared-finds.ts'
import { outlineOf } from '../../src/service/read/prepared/query-shape.ts'
import { readFind } from '../../src/service/request/request.ts'
import { printResponse } from '../../src/service/response.ts'
import type { Service } from '../../src/service/service.ts'
import { type Chance, sample, sampleEvenly } from '../agreement/chance.ts'
import { makeDocuments, makeIndexes, makeSchema } from '../agreement/make-documents.ts'
import { makeReferenceRequest } from '../agreement/make-reference-requests.ts'
import { makeRequest } from '../agreement/make-requests.ts'
import { printFields, withPredefined } from '../agreement/model.ts'
import { POOLS } from '../agreement/pools.ts'
import { fanOutOf } from '../agreement/reference-join.ts'
import { openArena } from '../agreement/references-arena.ts'
import { PLACINGS, openReferencesService } from '../support/references-service.ts'
import { compiledSchema } from '../support/schema.ts'
import { SEED } from '../support/seed.ts'
import { ADMIN, EVERYTHING, callerWith, documentsOf, openTestService } from '../support/service.ts'
import { storeKind } from '../support/store-kind.ts'

const ROUNDS = 6
const REQUESTS = 400

test(`find: texts that are filled in mean what they mean at first sight (SMALT_SEED=${SEED})`, async () => {
  await using tester = await openTestService()
  let filled = 0
  for (let round = 0; round < ROUNDS; round++) {
    const seed = SEED + round * 1_000
    const [entity, declared] = [`e${round}`, sample(seed, makeSchema)]
    const indexes = sample(seed, (chance) => makeIndexes(chance, declared)).map(({ printed }) => printed)
    const info = { indexes: indexes.map((index) => ({ ...index, unique: false })) }
    await tester.define(entity, printFields(declared), round % 2 === 0 ? {} : { info })
    await tester.store(
      entity,
      sample(seed, (chance) => makeDocuments(chance, declared, 16)),
    )
    const root = withPredefined(declared)
    for (let i = 0; i < REQUESTS; i++) {
      const body = sample(seed + i + 1, (chance) => makeRequest(chance, root))
      if (!outlineOf(body)) continue
      await compare(tester.service, { entity, body }, seed + i)
      filled++
    }
  }
  assert.ok(filled > 200, `texts were filled in ${filled} times`)
})

for (const placing of PLACINGS) {
  if (placing.first !== storeKind()) continue
  test(`find: the same across references, on ${placing.name} (SMALT_SEED=${SEED})`, async () => {
    await using tester = await openReferencesService(placing)
    let filled = 0
    for (let round = 0; round < ROUNDS / 4; round++) {
      const seed = SEED + round * 1_000
      const { holdings } = await openArena(seed, [tester])
      const subject = { entities: holdings.entities, fanOut: fanOutOf(holdings) }
      for (let i = 0; i < REQUESTS; i++) {
        const request = sampleEvenly(seed + i + 1, (chance) => makeReferenceRequest(chance, subject))
        if (!outlineOf(request.body)) continue
        await compare(tester.service, request, seed + i)
        filled++
      }
    }
    assert.ok(filled > 25, `texts were filled in ${filled} times`)
  })
}

interface Asked {
  readonly entity: string
  readonly body: JsonObject
}

let asked = 0

/** Asks with three sets of texts, of which the last is filled in, and as nobody has asked before. */
async function compare(service: Service, { entity, body }: Asked, seed: number): Promise<void> {
  const others = [1, 2, 3].map((n) => ({
    ...body,
    query: sample(seed * n, (chance) => withOtherTexts(body['query']!, chance)),
  }))
  const ask = async (each: JsonObject): Promise<string> =>
    printResponse(await service.data.find(ADMIN, { entity }, each))
  const answers: string[] = []
  for (const each of [...others, ...others.slice(0, 2)]) answers.push(await ask(each))
  const [, , third, first, second] = answers
  for (const [i, answer] of [first, second, third].entries()) {
    const fresh = { ...others[i]!, execution: { maxTimeMs: 20_000 + asked++ } }
    assert.equal(answer, await ask(fresh), JSON.stringify({ entity, body: others[i] }))
  }
}

/** With other texts wherever the query compares a field with one: such that are stored, and such that are like nothing. */
function withOtherTexts(query: Json, chance: Chance): Json {
  if (isArray(query)) return query.map((each) => withOtherTexts(each, chance))
  if (!isObject(query)) return query
  if (typeof query['rvalue'] === 'string') return { ...query, rvalue: chance.pick(TEXTS) }
  return Object.fromEntries(
    Object.entries(query).map(([name, part]) => [
      name,
      name === 'values' ? part : withOtherTexts(part, chance),
    ]),
  )
}

const TEXTS: readonly Json[] = [
  ...POOLS.string,
  ...POOLS.uid,
  ...POOLS.date,
  'x',
  'x'.repeat(40),
  'x'.repeat(41),
]

/** Often enough that what comes last is filled in. */
async function askOften(service: Service, caller: Caller, code: string): Promise<readonly string[]> {
  for (const other of ['u', 'v', code]) await service.data.find(caller, { entity: 'thing' }, thingsBy(other))
  const answer = await service.data.find(caller, { entity: 'thing' }, thingsBy(code))
  return documentsOf(answer).map((each) => JSON.stringify(each))
}

function thingsBy(code: string): JsonObject {
  return { query: { field: 'code', op: '=', rvalue: code }, projection: EVERYTHING }
}

test('find: what may be seen changes with the metadata, however often it was asked for', async () => {
  await using tester = await openTestService()
  const { metadata } = tester.service
  const fieldsFor = (role: string): JsonObject => ({
    code: { type: 'string' },
    secret: { type: 'string', access: { find: [role] } },
  })
  await tester.define('thing', fieldsFor('anyone'))
  await tester.store('thing', { _id: '1', code: 'a', secret: 's' })
  assert.match((await askOften(tester.service, ADMIN, 'a')).join(), /"secret":"s"/)
  const { schema } = metadata.get(ADMIN, 'thing', '1.0.0') as { readonly schema: JsonObject }
  const target = { entity: 'thing', version: '2.0.0' }
  const fields = { ...(schema['fields'] as JsonObject), ...fieldsFor('boss') }
  const version = { value: '2.0.0', changelog: 'hides' }
  await metadata.createSchema(ADMIN, target, { ...schema, version, fields })
  await metadata.setDefault(ADMIN, target)
  assert.doesNotMatch((await askOften(tester.service, ADMIN, 'a')).join(), /secret/)
  assert.match((await askOften(tester.service, callerWith('boss'), 'a')).join(), /"secret":"s"/)
})

test('find: what one caller asks often tells another nothing', async () => {
  await using tester = await openTestService()
  const where = { field: 'owner', op: '=', rvalue: '$caller.principal' }
  const access = { insert: ['anyone'], update: [], delete: [], find: [{ role: 'anyone', where }] }
  await tester.define(
    'thing',
    { code: { type: 'string' }, owner: { type: 'string' } },
    { schema: { access } },
  )
  await tester.service.data.insert(
    ADMIN,
    { entity: 'thing' },
    {
      data: ['ann', 'bob'].map((owner) => ({ code: 'a', owner })),
    },
  )
  for (const principal of ['ann', 'bob', 'ann']) {
    const [found, ...more] = await askOften(tester.service, { ...ADMIN, principal }, 'a')
    assert.match(found!, new RegExp(`"owner":"${principal}"`))
    assert.deepEqual(more, [])
  }
})

test('find: what is asked the third time is made of the second, but for texts that a number is compared with', () => {
  const schema = compiledSchema('thing', { code: { type: 'string' }, n: { type: 'integer' } })
  const deps = { schemaOf: () => schema, limits: DEFAULT_LIMITS, metadata: () => schema }
  const target = { entity: 'thing' }
  let prepared = 0
  const prepare = (body: Json): PreparedFind => {
    prepared++
    const allowed = allowedFind(deps, ADMIN, readFind(body, target, DEFAULT_LIMITS))
    return { allowed, plan: planFind(allowed, () => true), maxTimeMs: undefined }
  }
  const ask = (field: string, rvalue: string) => {
    const body = { query: { field, op: '=', rvalue }, projection: EVERYTHING }
    const { read } = preparedOnce({ target, body }, { deps, caller: ADMIN, prepare }).plan
    return { value: read.query?.kind === 'compare' && read.query.value, isMade: originOf(read) !== undefined }
  }
  const made = ['a', 'b', 'c', 'd'].map((text) => ask('code', text))
  assert.deepEqual(
    made.map(({ value, isMade }) => [value, isMade]),
    [
      ['a', false],
      ['b', true],
      ['c', true],
      ['d', true],
    ],
  )
  assert.equal(prepared, 2)
  for (const text of ['1', '2', '3']) assert.equal(ask('n', text).isMade, false)
})

test('outline: only texts that a query compares with are taken out, where they are short and plain', () => {
  const comparison = (rvalue: Json): JsonObject => ({ field: 'a', op: '=', rvalue })
  const textsOf = (query: Json, more: JsonObject = {}): readonly string[] => [
    ...(outlineOf({ query, projection: EVERYTHING, ...more })?.texts.values() ?? []),
  ]
  assert.deepEqual(textsOf(comparison('x')), ['x'])
  assert.deepEqual(
    textsOf({ $or: [comparison('x'), { $not: comparison('y') }, comparison(1), comparison('x')] }),
    ['x', 'y', 'x'],
  )
  assert.deepEqual(textsOf({ array: 'l', elemMatch: comparison('x') }), ['x'])
  for (const value of ['', 'é', 'a\nb', 'x'.repeat(41), null, 1, true])
    assert.deepEqual(textsOf(comparison(value)), [])
  assert.deepEqual(textsOf({ field: 'a', op: '$in', values: ['x'] }), [])
  assert.deepEqual(textsOf(comparison('x'), { asOf: '2020-01-01T00:00:00.000Z' }), [])
  assert.deepEqual(textsOf(comparison('x'), { sort: { ['b'.repeat(3_000)]: '$asc' } }), [])
  assert.deepEqual(textsOf({ $and: [comparison('x'), comparison(JSON.rawJSON('1'.repeat(3_000)))] }), [])
})

test('outline: finds that differ in anything else have nothing in common', () => {
  const body = { query: { field: 'a', op: '=', rvalue: 'x' }, projection: EVERYTHING, from: 0 }
  const keyOf = (of: JsonObject): string => outlineOf(of)!.key
  assert.equal(keyOf(body), keyOf({ ...body, query: { ...body.query, rvalue: 'y' } }))
  const others = [
    { ...body, from: 1 },
    { ...body, query: { ...body.query, op: '!=' } },
    { ...body, query: { ...body.query, field: 'b' } },
    { ...body, query: { $and: [body.query] } },
    { ...body, query: { $and: [body.query, body.query] } },
  ]
  assert.equal(new Set([body, ...others].map(keyOf)).size, others.length + 1)
})
