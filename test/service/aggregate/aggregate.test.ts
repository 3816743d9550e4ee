/** Runs the table about aggregates on the evaluator and through the service, on every store. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { parseDecimal } from '../../../src/base/decimal.ts'
import type { Schema } from '../../../src/schema/schema.ts'
import { aggregateInMemory } from '../../support/aggregate-evaluator.ts'
import { citusUrl } from '../../support/citus.ts'
import { compiledSchema } from '../../support/schema.ts'
import {
  ADMIN,
  type TestService,
  jsonObject,
  metadataDocument,
  openTestService,
} from '../../support/service.ts'
import { onEveryStore, storeKind } from '../../support/store-kind.ts'
import { CASES, DOCUMENTS, FIELDS, REFUSALS } from './cases.ts'

const schema = compiledSchema('sale', FIELDS)

onEveryStore(() => {
  let tester: TestService
  let stored: readonly JsonObject[]

  before(async () => {
    tester = await openTestService()
    await tester.define('sale', FIELDS)
    stored = await tester.store(
      'sale',
      DOCUMENTS.map((text, i): Json => ({ _id: String(i), ...jsonObject(text) })),
    )
  })
  after(() => tester[Symbol.asyncDispose]())

  for (const { name, request, processed, matchCount = processed.length, residualOn = [] } of CASES) {
    void test(`aggregate: ${name}`, async () => {
      const body = jsonObject(request)
      const response = await tester.service.data.aggregate(ADMIN, { entity: 'sale' }, body)
      assert.deepEqual(response.errors, undefined)
      assert.deepEqual(response.processed, processed)
      assert.equal(response.matchCount, matchCount)
      assert.deepEqual(aggregateInMemory(schema, body, stored), { processed, matchCount })
      const explained = await tester.service.data.explain(ADMIN, { entity: 'sale' }, body)
      assert.deepEqual(explained.errors, undefined)
      assert.equal(explained.matchCount, matchCount)
      const { residual = false } = jsonObject(explained.processed![0]!)
      // on a cluster, the service groups by itself
      assert.equal(residual, citusUrl() !== undefined || residualOn.includes(storeKind()))
    })
  }

  void test('aggregate: numbers of another version that are the same double are one value', async () => {
    const number = (type: string): JsonObject => ({ _id: { type: 'string' }, n: { type } })
    await tester.define('reading', number('double'))
    const exact = { entity: 'reading', version: '2.0.0' }
    const version = { value: '2.0.0', changelog: 'exact' }
    const metadata = metadataDocument('reading', number('bigdecimal'), { schema: { version } })
    await tester.service.metadata.create(ADMIN, exact, metadata)
    const digits = ['0', '1e-400', '9007199254740992', '9007199254740993', '8.390934408034852114784056e69']
    const data = digits.map((n, i) => jsonObject(`{"_id":"${i}","n":${n}}`))
    assert.equal((await tester.service.data.insert(ADMIN, exact, { data })).status, 'COMPLETE')
    const values = {
      count: { $count: true },
      different: { $distinct: 'n' },
      least: { $min: 'n' },
      greatest: { $max: 'n' },
    }
    const target = { entity: 'reading', version: '1.0.0' }
    const grouped = await tester.service.data.aggregate(ADMIN, target, { groupBy: ['n'], values })
    assert.deepEqual(grouped.processed, [
      '{"n":0,"count":2,"different":1,"least":0,"greatest":0}',
      '{"n":9.007199254740992e+15,"count":2,"different":1,"least":9.007199254740992e+15,"greatest":9.007199254740992e+15}',
      '{"n":8.390934408034853e+69,"count":1,"different":1,"least":8.390934408034853e+69,"greatest":8.390934408034853e+69}',
    ])
    const { processed } = await tester.service.data.aggregate(ADMIN, target, { values })
    assert.deepEqual(processed, ['{"count":5,"different":3,"least":0,"greatest":8.390934408034853e+69}'])
  })

  void test('aggregate: a number of another version beyond all doubles is infinite, which is refused', async () => {
    const number = (type: string): JsonObject => ({
      _id: { type: 'string' },
      city: { type: 'string' },
      n: { type },
    })
    await tester.define('vast', number('double'))
    const exact = { entity: 'vast', version: '2.0.0' }
    const version = { value: '2.0.0', changelog: 'exact' }
    const metadata = metadataDocument('vast', number('bigdecimal'), { schema: { version } })
    await tester.service.metadata.create(ADMIN, exact, metadata)
    const numbers = [
      ['Bern', '1e400'],
      ['Bern', '1.5'],
      ['Chur', '-1e400'],
      ['Chur', '1e400'],
      ['Genf', '2.5'],
      ['Uri', '-1e400'],
    ]
    const data = numbers.map(([city, n], i) => jsonObject(`{"_id":"${i}","city":"${city}","n":${n}}`))
    assert.equal((await tester.service.data.insert(ADMIN, exact, { data })).status, 'COMPLETE')
    const inMemory = compiledSchema('vast', number('double'))
    const target = { entity: 'vast', version: '1.0.0' }
    const agree = async (body: JsonObject): Promise<readonly string[] | string> => {
      const { processed, errors } = await tester.service.data.aggregate(ADMIN, target, body)
      const found = processed ?? errors![0]!.msg
      assert.deepEqual(evaluated(inMemory, body, data), found, JSON.stringify(body))
      return found
    }
    for (const op of ['$sum', '$avg', '$min', '$max'])
      assert.match(String(await agree({ values: { x: { [op]: 'n' } } })), /exceeds the range of a double/, op)
    assert.match(String(await agree({ groupBy: ['n'] })), /exceeds the range of a double/)
    for (const op of ['$sum', '$avg']) {
      const values = { x: { [op]: 'n' } }
      const byCity = { groupBy: ['city'], values, sort: [{ x: '$asc' }, { city: '$asc' }] }
      const rows = await agree({ ...byCity, range: [1, 1] })
      assert.deepEqual(rows, ['{"city":"Genf","x":2.5}'], 'only what is on the page is refused')
      const large = { field: 'x', op: '>', rvalue: 3 }
      assert.match(String(await agree({ ...byCity, having: large })), /exceeds the range/)
      const small = { field: 'x', op: '<', rvalue: 3 }
      assert.deepEqual(await agree({ ...byCity, having: small, range: [1, 5] }), ['{"city":"Genf","x":2.5}'])
    }
    assert.deepEqual(await agree({ values: { x: { $distinct: 'n' } } }), ['{"x":4}'])
  })

  void test('aggregate: numbers with as many digits as can be stored are keys and values', async () => {
    await tester.define('tiny', { _id: { type: 'string' }, n: { type: 'bigdecimal' } })
    const digits = ['1e-2000', '-1.50e-1999', '1e-1998', '1e1999']
    const data = digits.map((n, i) => jsonObject(`{"_id":"${i}","n":${n}}`))
    assert.equal((await tester.service.data.insert(ADMIN, { entity: 'tiny' }, { data })).status, 'COMPLETE')
    const values = { least: { $min: 'n' }, greatest: { $max: 'n' }, sum: { $sum: 'n' } }
    const { processed, errors } = await tester.service.data.aggregate(
      ADMIN,
      { entity: 'tiny' },
      { groupBy: ['n'], values, sort: { n: '$asc' } },
    )
    assert.deepEqual(errors, undefined)
    const shown = processed!.map((text) =>
      [...text.matchAll(/:([-\d.e]+)/g)].map(([, n]) => parseDecimal(n!)),
    )
    const sorted = ['-1.50e-1999', '1e-2000', '1e-1998', '1e1999'].map((n) => parseDecimal(n))
    assert.deepEqual(
      shown,
      sorted.map((n) => [n, n, n, n]),
    )
  })

  for (const { name, request, code, says } of REFUSALS) {
    void test(`aggregate: ${name} is refused`, async () => {
      const { errors } = await tester.service.data.aggregate(ADMIN, { entity: 'sale' }, jsonObject(request))
      assert.match(errors?.[0]?.errorCode ?? '', new RegExp(`:${code}$`))
      assert.ok(errors![0]!.msg.includes(says), errors![0]!.msg)
    })
  }
})

/** The rows, or the message of the refusal. */
function evaluated(
  own: Schema,
  body: JsonObject,
  documents: readonly JsonObject[],
): readonly string[] | string {
  try {
    return aggregateInMemory(own, body, documents).processed
  } catch (error) {
    return (error as Error).message
  }
}
