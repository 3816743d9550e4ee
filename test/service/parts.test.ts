/** How many parts a request may have: those of its query, its matches and its selectors count together. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { printResponse } from '../../src/service/response.ts'
import { ADMIN, EVERYTHING, type TestService, codeOf, openTestService } from '../support/service.ts'

const MOST = 12
let tester: TestService
before(async () => {
  tester = await openTestService({ limits: { queryNodes: MOST } })
  const lines = { type: 'array', items: { type: 'object', fields: { b: { type: 'integer' } } } }
  await tester.define('t', { lines })
  await tester.store('t', { _id: 'a', lines: [{ b: 1 }, { b: 2 }] })
})
after(() => tester[Symbol.asyncDispose]())

/** A query of so many nodes. */
function nodes(count: number, field = 'b', rvalue: Json = 1): JsonObject {
  return { $or: Array.from({ length: count - 1 }, () => ({ field, op: '=', rvalue })) }
}

const matching = (count: number, more: JsonObject = {}): JsonObject => ({
  field: 'lines',
  match: nodes(count),
  ...more,
})
const select = (count: number, action: Json = { $set: { b: 3 } }): JsonObject => ({
  $foreach: { lines: nodes(count), $update: action },
})
const ID = nodes(2, '_id', 'a')

/** What holds just as many parts as a request may have, and one more. */
const CASES: readonly (readonly [what: string, make: (more: number) => JsonObject])[] = [
  ['a query', (more) => ({ query: nodes(MOST + more, '_id', 'a'), projection: EVERYTHING })],
  ['matches of a projection', (more) => ({ projection: [matching(6), matching(6 + more)] })],
  [
    'a match inside of a match',
    (more) => ({ projection: matching(6, { projection: matching(6 + more, { field: 'c' }) }) }),
  ],
  ['a query and matches', (more) => ({ query: ID, projection: [matching(5), matching(5 + more)] })],
  ['items', (more) => ({ projection: Array.from({ length: MOST + more }, () => ({ field: 'lines' })) })],
  [
    'items inside of items',
    (more) => ({
      projection: Array.from({ length: 4 }, (_, i) => ({
        field: 'lines',
        range: [0, 1],
        projection: Array.from({ length: i === 0 ? 2 + more : 2 }, () => ({ field: 'b' })),
      })),
    }),
  ],
  [
    'sort keys of items',
    (more) => ({
      projection: {
        field: 'lines',
        range: [0, 1],
        projection: { field: 'b' },
        sort: Array.from({ length: MOST - 2 + more }, () => ({ b: '$asc' })),
      },
    }),
  ],
  ['selectors of an update', (more) => ({ query: ID, update: [select(5), select(5 + more)] })],
  ['a selector in a loop', (more) => ({ query: ID, update: select(5, select(5 + more)) })],
  [
    'the selectors and matches of an update',
    (more) => ({ query: ID, update: select(5), projection: matching(5 + more) }),
  ],
]

for (const [what, make] of CASES) {
  test(`parts: ${what} are counted together`, async () => {
    const send = (body: JsonObject) =>
      'update' in body ? tester.service.data.update(ADMIN, { entity: 't' }, body) : tester.find('t', body)
    const response = await send(make(0))
    assert.notEqual(response.errors?.[0]?.errorCode, 'crud:LimitExceeded', printResponse(response))
    assert.equal(codeOf(await send(make(1))), 'crud:LimitExceeded')
  })
}

test('parts: each request of a bulk is counted by itself', async () => {
  const request = { entity: 't', query: ID, projection: matching(MOST - 2) }
  const requests = [0, 1, 2].map((seq) => ({ seq, op: 'find', request }))
  assert.doesNotMatch(await tester.service.data.bulk(ADMIN, { requests }), /"ERROR"/)
})
