/** Prepared finds answer as unprepared ones do, whatever the literals, and share nothing between callers who differ. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../src/access/caller.ts'
import { type Json, type JsonObject, isArray, isObject } from '../../src/base/json/json.ts'
import { parseTrusted } from '../../src/base/json/parse-trusted.ts'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { shapeOf } from '../../src/service/read/prepared/query-shape.ts'
import { printResponse } from '../../src/service/response.ts'
import type { Service } from '../../src/service/service.ts'
import { type Chance, sample, sampleEvenly } from '../support/chance.ts'
import { makeDocuments, makeIndexes, makeSchema } from '../property/agreement/make-documents.ts'
import { makeReferenceRequest } from '../property/agreement/make-reference-requests.ts'
import { makeRequest } from '../property/agreement/make-requests.ts'
import { printFields, withPredefined } from '../property/agreement/model.ts'
import { DATE_SPELLINGS, POOLS } from '../property/agreement/pools.ts'
import { fanOutOf } from '../property/agreement/reference-join.ts'
import { openArena } from '../property/agreement/references-arena.ts'
import { PLACINGS, openReferencesService } from '../support/references-service.ts'
import { SEED } from '../support/seed.ts'
import { ADMIN, EVERYTHING, callerWith, documentsOf, openTestService } from '../support/service.ts'
import { onEveryStore, storeKind } from '../support/store-kind.ts'

onEveryStore(() => {
  const ROUNDS = 6
  const REQUESTS = 400

  test(`find: prepared and unprepared finds answer alike (SMALT_SEED=${SEED})`, async () => {
    await using tester = await openTestService()
    const seen = tally()
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
        if (!seen.count(body)) continue
        await compare(tester.service, { entity, body }, seed + i)
      }
    }
    const { text, number, boolean, list } = seen.counts
    assert.ok(
      text > 100 && number > 100 && boolean > 3 && list > 20,
      `requests with literals: ${JSON.stringify(seen.counts)}`,
    )
  })

  for (const placing of PLACINGS) {
    if (placing.first !== storeKind()) continue
    test(`find: the same across references, on ${placing.name} (SMALT_SEED=${SEED})`, async () => {
      await using tester = await openReferencesService(placing)
      const seen = tally()
      for (let round = 0; round < ROUNDS / 4; round++) {
        const seed = SEED + round * 1_000
        const { holdings } = await openArena(seed, [tester])
        const subject = { entities: holdings.entities, fanOut: fanOutOf(holdings) }
        for (let i = 0; i < REQUESTS; i++) {
          const request = sampleEvenly(seed + i + 1, (chance) => makeReferenceRequest(chance, subject))
          if (!seen.count(request.body)) continue
          await compare(tester.service, request, seed + i)
        }
      }
      const { text, number } = seen.counts
      assert.ok(text > 25 && number > 25, `requests with literals: ${JSON.stringify(seen.counts)}`)
    })
  }

  /** How many requests can be prepared, by the kinds of their literals. */
  function tally() {
    const counts = { text: 0, number: 0, boolean: 0, list: 0 }
    return {
      counts,
      count(body: JsonObject): boolean {
        const literals = shapeOf(body, DEFAULT_LIMITS)?.literals ?? []
        for (const kind of new Set(literals.map(kindOf))) counts[kind]++
        return literals.length > 0
      },
    }
  }

  function kindOf(literal: Json): 'text' | 'number' | 'boolean' | 'list' {
    if (isArray(literal)) return 'list'
    if (typeof literal === 'boolean') return 'boolean'
    return typeof literal === 'string' ? 'text' : 'number'
  }

  interface Request {
    readonly entity: string
    readonly body: JsonObject
  }

  let unprepared = 0

  /** Four sets of literals, each asked twice, so that the second time is prepared, and once in a shape of its own. */
  async function compare(service: Service, { entity, body }: Request, seed: number): Promise<void> {
    const others = [1, 2, 3, 4].map((n) => ({
      ...body,
      query: sample(seed * n, (chance) => withOtherLiterals(body['query']!, chance)),
    }))
    const ask = async (each: JsonObject): Promise<string> =>
      printResponse(await service.data.find(ADMIN, { entity }, each))
    for (const each of others) await ask(each)
    for (const each of others) {
      const prepared = await ask(each)
      // The time limit is part of the shape.
      const fresh = { ...each, execution: { maxTimeMs: 20_000 + unprepared++ } }
      assert.equal(prepared, await ask(fresh), JSON.stringify({ entity, body: each }))
    }
  }

  /** Values that are stored, values that fit no field, and values at the limits of what a parameter may stand for. */
  function withOtherLiterals(query: Json, chance: Chance): Json {
    if (isArray(query)) return query.map((each) => withOtherLiterals(each, chance))
    if (!isObject(query)) return query
    return Object.fromEntries(
      Object.entries(query).map(([name, part]) => {
        if (name === 'rvalue') return [name, otherLiteral(part, chance)]
        if (name === 'values' && isArray(part)) return [name, otherList(part, chance)]
        return [name, isObject(part) || isArray(part) ? withOtherLiterals(part, chance) : part]
      }),
    )
  }

  /** Longer and shorter ones, too: a list of one and an empty list have shapes of their own. */
  function otherList(values: readonly Json[], chance: Chance): Json {
    const others = values.map((each) => otherLiteral(each, chance))
    if (others.length === 0 || chance.happens(40)) return others
    const more = values.map((each) => otherLiteral(each, chance))
    return [...others, ...more].slice(0, chance.pick([1, 1, 2, others.length * 2, 0]))
  }

  function otherLiteral(value: Json, chance: Chance): Json {
    if (value === null || chance.happens(3)) return value
    if (chance.happens(3)) return chance.pick(ODD)
    if (typeof value === 'string') return chance.pick(isDate(value) ? DATES : TEXTS)
    return typeof value === 'boolean' ? chance.happens(50) : chance.pick(NUMBERS)
  }

  function isDate(value: string): boolean {
    return DATES.includes(value)
  }

  const DATES: readonly Json[] = [...POOLS.date, ...DATE_SPELLINGS]
  const TEXTS: readonly Json[] = [...POOLS.string, ...POOLS.uid, 'x', 'x'.repeat(64), 'x'.repeat(65)]
  const NUMBERS: readonly Json[] = [
    ...POOLS.integer,
    ...POOLS.double,
    ...POOLS.biginteger,
    ...POOLS.bigdecimal,
  ]
  const ODD: readonly Json[] = [null, true, 'x', 7, [], {}, [1], parseTrusted('1'.repeat(70)), '2024-13-01']

  /** The last of these requests is prepared. */
  async function findPrepared(service: Service, caller: Caller, code: string): Promise<readonly string[]> {
    for (const other of ['u', 'v', code])
      await service.data.find(caller, { entity: 'thing' }, thingsBy(other))
    const answer = await service.data.find(caller, { entity: 'thing' }, thingsBy(code))
    return documentsOf(answer).map((each) => JSON.stringify(each))
  }

  function thingsBy(code: string): JsonObject {
    return { query: { field: 'code', op: '=', rvalue: code }, projection: EVERYTHING }
  }

  test('find: a prepared find ends with the metadata it was made by', async () => {
    await using tester = await openTestService()
    const { metadata } = tester.service
    const fieldsFor = (role: string): JsonObject => ({
      code: { type: 'string' },
      secret: { type: 'string', access: { find: [role] } },
    })
    await tester.define('thing', fieldsFor('anyone'))
    await tester.store('thing', { _id: '1', code: 'a', secret: 's' })
    assert.match((await findPrepared(tester.service, ADMIN, 'a')).join(), /"secret":"s"/)
    const { schema } = metadata.get(ADMIN, 'thing', '1.0.0') as { readonly schema: JsonObject }
    const target = { entity: 'thing', version: '2.0.0' }
    const fields = { ...(schema['fields'] as JsonObject), ...fieldsFor('boss') }
    const version = { value: '2.0.0', changelog: 'hides' }
    await metadata.createSchema(ADMIN, target, { ...schema, version, fields })
    await metadata.setDefault(ADMIN, target)
    assert.doesNotMatch((await findPrepared(tester.service, ADMIN, 'a')).join(), /secret/)
    assert.match((await findPrepared(tester.service, callerWith('boss'), 'a')).join(), /"secret":"s"/)
  })

  test('find: a prepared find of one caller shows another nothing', async () => {
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
      const [found, ...more] = await findPrepared(tester.service, { ...ADMIN, principal }, 'a')
      assert.match(found!, new RegExp(`"owner":"${principal}"`))
      assert.deepEqual(more, [])
    }
  })

  test('find: a literal that is not of the type of its field is refused as if the find was not prepared', async () => {
    await using tester = await openTestService()
    await tester.define('thing', { n: { type: 'integer' }, on: { type: 'date' }, yes: { type: 'boolean' } })
    const ask = async (query: JsonObject, more: JsonObject = {}): Promise<string> => {
      const body = { query, projection: EVERYTHING, ...more }
      return printResponse(await tester.service.data.find(ADMIN, { entity: 'thing' }, body))
    }
    const cases: readonly (readonly [field: string, fitting: Json, other: Json])[] = [
      ['n', 1, 'x'],
      ['n', 1, parseTrusted('9223372036854775808')],
      ['n', '1', true],
      ['on', '2024-01-01T00:00:00Z', '2024-13-01T00:00:00Z'],
      ['yes', true, 1],
    ]
    for (const [field, fitting, other] of cases) {
      const both = (rvalue: Json): JsonObject => ({
        $and: [
          { field: 'n', op: '=', rvalue: 5 },
          { field, op: '=', rvalue },
          { field, op: '$in', values: [fitting, rvalue] },
        ],
      })
      for (let i = 0; i < 3; i++) assert.match(await ask(both(fitting)), /"COMPLETE"/)
      const refused = await ask(both(other))
      assert.match(refused, /metadata:IncompatibleValue.*\/query\/\$and\/1/)
      assert.equal(refused, await ask(both(other), { execution: { maxTimeMs: 12_345 } }))
    }
  })

  test('shape: literals are taken out where a query compares with them', () => {
    const comparison = (rvalue: Json): JsonObject => ({ field: 'a', op: '=', rvalue })
    const list = (values: Json): JsonObject => ({ field: 'a', op: '$in', values })
    const literalsOf = (query: Json, more: JsonObject = {}): readonly Json[] | undefined =>
      shapeOf({ query, projection: EVERYTHING, ...more }, { inValues: 3 })?.literals
    for (const value of ['x', '', 'é', 'a\nb', 'x'.repeat(64), 0, -1.5, true, false])
      assert.deepEqual(literalsOf(comparison(value)), [value])
    assert.deepEqual(
      literalsOf({ $or: [comparison('x'), { $not: comparison(1) }, list(['y', 2]), comparison(null)] }),
      ['x', 1, ['y', 2]],
    )
    assert.deepEqual(literalsOf({ array: 'l', elemMatch: comparison('x') }), ['x'])
    const decideAboutThePlan = [null, 'x'.repeat(65), parseTrusted('1'.repeat(65))]
    for (const value of decideAboutThePlan) assert.equal(literalsOf(comparison(value)), undefined)
    for (const values of [[], ['x', null], ['x', 'x'.repeat(65)], ['x', ['y']]])
      assert.equal(literalsOf(list(values)), undefined)
    assert.equal(literalsOf(list([1, 2, 3, 4])), undefined, 'more than a list may have')
    assert.equal(literalsOf({ array: 'l', contains: '$any', values: ['x'] }), undefined)
    assert.equal(literalsOf({ field: 'a', regex: 'x' }), undefined)
    for (const invalid of [{}, [], ['x']])
      assert.equal(literalsOf({ $and: [comparison('x'), comparison(invalid)] }), undefined)
    assert.equal(literalsOf({ $and: [comparison('x'), list(1)] }), undefined)
    assert.equal(literalsOf(comparison('x'), { asOf: '2020-01-01T00:00:00.000Z' }), undefined)
    assert.equal(literalsOf(comparison('x'), { sort: { ['b'.repeat(3_000)]: '$asc' } }), undefined)
    assert.equal(
      literalsOf({ $and: [comparison('x'), comparison(parseTrusted('1'.repeat(3_000)))] }),
      undefined,
    )
  })

  test('shape: finds that differ in anything but their literals have another one', () => {
    const body = { query: { field: 'a', op: '=', rvalue: 'x' }, projection: EVERYTHING, from: 0 }
    const keyOf = (of: JsonObject): string => shapeOf(of, DEFAULT_LIMITS)!.key
    for (const rvalue of ['y', 1, true])
      assert.equal(keyOf(body), keyOf({ ...body, query: { ...body.query, rvalue } }))
    const list = (values: Json): JsonObject => ({ ...body, query: { field: 'a', op: '$in', values } })
    assert.equal(keyOf(list(['x', 'y'])), keyOf(list([1, 2, 3])))
    const others = [
      { ...body, from: 1 },
      { ...body, query: { ...body.query, op: '!=' } },
      { ...body, query: { ...body.query, field: 'b' } },
      { ...body, query: { $and: [body.query] } },
      { ...body, query: { $and: [body.query, body.query] } },
      { ...body, query: { ...body.query, ...(parseTrusted('{"__proto__": {}}') as JsonObject) } },
      { ...body, query: { $and: [body.query], ...(parseTrusted('{"__proto__": {}}') as JsonObject) } },
      list(['x']),
      list(['x', 'y']),
    ]
    assert.equal(new Set([body, ...others].map(keyOf)).size, others.length + 1)
  })
})
