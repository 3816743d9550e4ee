/** Whole requests on SQLite, as callers send them. */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { printResponse } from '../../../src/service/response.ts'
import { EVERYTHING, type TestService, callerWith, openTestService } from '../../support/service.ts'
import { flat, many, testGrowth } from './growth.ts'

const BOSS = { find: ['anyone'], insert: ['boss'], update: ['boss'] }
const WORKER = callerWith('worker')
const limits = { queryNodes: 100_000 }
let tester: TestService

before(async () => {
  tester = await openTestService({ limits })
  await tester.define('t', {
    text: { type: 'string' },
    price: { type: 'bigdecimal' },
    numbers: { type: 'array', items: { type: 'integer' } },
    secrets: { type: 'array', items: { type: 'object', fields: { a: { type: 'string', access: BOSS } } } },
    free: { type: 'any' },
  })
})
after(() => tester[Symbol.asyncDispose]())

testGrowth('insert', [
  ['documents', 100, (n) => inserting(many(n, (i) => ({ text: `t${i}` })))],
  ['documents with faults', 250, (n) => inserting(many(n, () => ({ price: 'x', wrong: 1 })))],
  ['wrong values', 10_000, (n) => inserting({ numbers: many(n, () => 'x') })],
  ['refused paths', 500, (n) => inserting({ secrets: many(n, () => ({ a: 'x' })) })],
  ['length of a text', 25_000, (n) => inserting({ text: 'ab\n'.repeat(n) })],
  ['elements', 2_500, (n) => inserting({ numbers: many(n, (i) => i) })],
  ['digits', 10_000, (n) => inserting({ price: JSON.rawJSON(`1${'0'.repeat(n)}1`) })],
])

testGrowth('find', [
  [
    'length of a stored text',
    25_000,
    (n) =>
      finding({ text: 'ab\n'.repeat(n) }, (_id) => ({ query: byId(_id), projection: { field: 'text' } })),
  ],
  [
    'elements',
    2_500,
    (n) =>
      finding({ numbers: many(n, (i) => i) }, (_id) => ({
        query: byId(_id),
        projection: { field: 'numbers.*' },
      })),
  ],
  [
    'listed values',
    500,
    (n) =>
      finding({}, () => ({
        query: { field: '_id', op: '$in', values: many(n, (i) => `v${i}`) },
        projection: EVERYTHING,
      })),
  ],
  [
    'digits of a value',
    10_000,
    (n) =>
      finding({}, () => ({
        query: { field: 'price', op: '=', rvalue: JSON.rawJSON(`1${'0'.repeat(n)}1`) },
        projection: EVERYTHING,
      })),
  ],
])

testGrowth('update', [
  [
    'equal elements to append to',
    2_000,
    (n) => updating({ numbers: many(n, () => 1) }, { $append: { numbers: [1] } }),
  ],
  ['appended values', 1_000, (n) => updating({}, { $append: { numbers: many(n, (i) => i) } })],
  [
    'steps',
    100,
    (n) =>
      updating(
        {},
        many(n, (i) => ({ $set: { text: `t${i}` } })),
      ),
  ],
])

testGrowth('save', [
  ['equal elements', 2_000, (n) => saving({ numbers: many(n, () => 1) }, { numbers: many(n + 1, () => 1) })],
  [
    'refused paths',
    500,
    (n) => saving({ secrets: many(n, () => ({})) }, { secrets: many(n, () => ({ a: 'x' })) }),
  ],
])

/** From the text of the body to the text of the answer. */
function sending(
  body: Json,
  send: (body: Json) => Promise<Parameters<typeof printResponse>[0]>,
): () => Promise<string> {
  const text = flat(JSON.stringify(body))
  return async () => printResponse(await send(parseJson(text, 64)))
}

function inserting(data: Json): () => unknown {
  return sending({ data }, (body) => tester.insert('t', body as JsonObject, WORKER))
}

let next = 0

async function stored(document: JsonObject): Promise<string> {
  const _id = `d${next++}`
  const response = await tester.insert('t', { data: { ...document, _id } }, callerWith('boss'))
  assert.equal(response.status, 'COMPLETE', printResponse(response))
  return _id
}

function byId(_id: string): JsonObject {
  return { field: '_id', op: '=', rvalue: _id }
}

/** The document is there before the first run, which for that reason is never the best one. */
function afterStoring(
  document: JsonObject,
  send: (_id: string) => () => Promise<unknown>,
): () => Promise<unknown> {
  let ready: Promise<() => Promise<unknown>> | undefined
  return async () => (await (ready ??= stored(document).then(send)))()
}

function finding(document: JsonObject, request: (_id: string) => JsonObject): () => unknown {
  return afterStoring(document, (_id) =>
    sending(request(_id), (body) => tester.find('t', body as JsonObject, WORKER)),
  )
}

function updating(document: JsonObject, update: Json): () => unknown {
  return afterStoring(document, (_id) =>
    sending({ query: byId(_id), update }, (body) =>
      tester.service.data.update(WORKER, { entity: 't' }, body),
    ),
  )
}

function saving(document: JsonObject, fresh: JsonObject): () => unknown {
  return afterStoring(document, (_id) =>
    sending({ data: { ...fresh, _id } }, (body) => tester.service.data.save(WORKER, { entity: 't' }, body)),
  )
}
