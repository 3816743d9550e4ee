/** `having` compares two members of a group by the digits that are returned, in the statement of every store. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { aggregateInMemory } from '../../support/aggregate-evaluator.ts'
import { citusUrl } from '../../support/citus.ts'
import { compiledSchema } from '../../support/schema.ts'
import { ADMIN, type TestService, jsonObject, openTestService } from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const FIELDS: JsonObject = {
  _id: { type: 'string', constraints: { identity: true } },
  i: { type: 'integer' },
  d: { type: 'double' },
  e: { type: 'double' },
  bd: { type: 'bigdecimal' },
  s: { type: 'string' },
  u: { type: 'string' },
  t: { type: 'date' },
  b: { type: 'boolean' },
  tags: { type: 'array', items: { type: 'string' } },
}

const DOCUMENTS: readonly string[] = [
  `{"_id":"same","i":1,"d":0.1,"e":0.1,"bd":0.10,"s":"a","u":"a","t":"2024-01-15T00:00:00.000Z","b":true,"tags":["x"]}`,
  `{"_id":"more","i":2,"d":0.1,"e":0.2,"bd":0.1000000000000000055511151231257827,"s":"a","u":"Ä","t":"2024-01-15T00:30:00.000Z","b":false,"tags":[]}`,
  // Halfway to the next double: PostgreSQL prints the double as 9.999999999999999e+22.
  `{"_id":"half","i":-1,"d":1e+23,"e":5e-324,"bd":1e+23,"s":"b","u":"B"}`,
  `{"_id":"vast","i":1152921504606846976,"d":1.152921504606847e+18,"e":-1e+300,"bd":1152921504606847000.0,"s":"","u":null}`,
  `{"_id":"none","tags":["x","y"]}`,
]

const GROUPED: JsonObject = {
  groupBy: ['_id', { field: 't', truncate: 'day', timeZone: 'Asia/Kathmandu', as: 'day' }],
  values: {
    n: { $count: true },
    tags: { $sum: 'tags#' },
    i: { $sum: 'i' },
    d: { $sum: 'd' },
    e: { $max: 'e' },
    bd: { $min: 'bd' },
    mean: { $avg: 'bd' },
    s: { $min: 's' },
    u: { $max: 'u' },
    t: { $max: 't' },
    b: { $min: 'b' },
    c: { $max: 'b' },
  },
}

const PAIRS: readonly (readonly [left: string, op: string, right: string, groups: string])[] = [
  ['n', '=', 'i', 'same'],
  ['i', '>', 'n', 'more vast'],
  ['n', '<=', 'tags', 'none same'],
  ['d', '=', 'bd', 'half same vast none'],
  ['bd', '=', 'd', 'half same vast none'],
  ['d', '!=', 'bd', 'more'],
  ['d', '<', 'bd', 'more'],
  ['d', '>=', 'bd', 'half same vast'],
  ['d', '=', 'mean', 'half same vast none'],
  ['d', '>', 'i', 'half vast'],
  ['d', '=', 'i', 'none'],
  ['d', '<', 'n', 'more same'],
  ['n', '>=', 'e', 'half more same vast'],
  ['d', '<=', 'e', 'more same'],
  ['d', '=', 'e', 'none same'],
  ['e', '<', 'bd', 'half vast'],
  ['bd', '=', 'mean', 'half none same vast'],
  ['s', '=', 'u', 'none same'],
  ['s', '>', 'u', 'half'],
  ['_id', '>', 's', 'half more same vast'],
  ['t', '>', 'day', 'more same'],
  ['day', '=', 't', 'half none vast'],
  ['b', '=', 'c', 'half more none same vast'],
  ['b', '<', 'c', ''],
]

const schema = compiledSchema('pair', FIELDS)

onEveryStore(() => {
  let tester: TestService
  let stored: readonly JsonObject[]

  before(async () => {
    tester = await openTestService()
    await tester.define('pair', FIELDS)
    stored = await tester.store('pair', DOCUMENTS.map(jsonObject))
  })
  after(() => tester[Symbol.asyncDispose]())

  for (const [field, op, rfield, groups] of PAIRS) {
    void test(`aggregate: having ${field} ${op} ${rfield}`, async () => {
      const body = { ...GROUPED, having: { field, op, rfield } }
      const inMemory = aggregateInMemory(schema, body, stored)
      const ids = inMemory.processed.map((line) => jsonObject(line)['_id'] as string)
      assert.equal(ids.join(' '), groups.split(' ').sort().join(' '))
      const { processed, errors } = await tester.service.data.aggregate(ADMIN, { entity: 'pair' }, body)
      assert.deepEqual(errors, undefined)
      assert.deepEqual(processed, inMemory.processed)
      const explained = await tester.service.data.explain(ADMIN, { entity: 'pair' }, body)
      const { residual = false } = jsonObject(explained.processed![0]!)
      // on a cluster, the service groups by itself
      assert.equal(residual, citusUrl() !== undefined)
    })
  }
})
