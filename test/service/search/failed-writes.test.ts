/** The words of a document are written with it: a write that fails, as a whole or in part, leaves none behind. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { type TestServer, startTestServer } from '../../support/server.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const FIELDS: JsonObject = {
  title: { type: 'string', constraints: { maxLength: 20 } },
  code: { type: 'string' },
  tags: { type: 'array', items: { type: 'string' } },
}
const INDEXES: Json = [
  { name: 'words', kind: 'text', fields: [{ field: 'title' }, { field: 'tags' }] },
  { name: 'code', unique: true, fields: [{ field: 'code' }] },
]
const BEFORE: Json = [
  { _id: 'a', title: 'one two', code: 'a' },
  { _id: 'b', title: 'two three', code: 'b', tags: ['four'] },
  { _id: 'c', title: 'almost twenty chars', code: 'c', tags: ['four', 'five'] },
]
const ALL = { $and: [] }
const ATOMIC = { atomic: true }
/** Every word that any document has, or would have had. */
const WORDS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'almost', 'twenty', 'chars', 'added']

/** A write, and the texts of the documents afterwards, by `_id`; without the latter, nothing changes. */
const WRITES: readonly (readonly [
  rule: string,
  method: string,
  path: string,
  body: JsonObject,
  after?: Readonly<Record<string, string>>,
])[] = [
  [
    'an atomic insert with a duplicate',
    'PUT',
    'insert/page',
    { data: [page('x', 'six'), page('y', 'seven', 'a')], execution: ATOMIC },
  ],
  [
    'an insert of which one document is a duplicate',
    'PUT',
    'insert/page',
    { data: [page('x', 'six two'), page('y', 'seven', 'a'), page('z', 'five')] },
    { x: 'six two', z: 'five' },
  ],
  [
    'an atomic update that fails at the last document',
    'POST',
    'update/page',
    { query: ALL, update: [{ $set: { title: 'six', code: 'same' } }], execution: ATOMIC },
  ],
  [
    'an update that succeeds for one document only',
    'POST',
    'update/page',
    { query: ALL, update: { $set: { title: 'six', code: 'same' }, $unset: 'tags' } },
    { a: 'six' },
  ],
  [
    'an atomic save of which one document violates a constraint',
    'POST',
    'save/page',
    {
      data: [page('a', 'seven'), page('x', 'six'), page('b', 'x'.repeat(21))],
      upsert: true,
      execution: ATOMIC,
    },
  ],
  [
    'a save of which one document violates a constraint',
    'POST',
    'save/page',
    { data: [page('a', 'seven'), page('x', 'six'), page('b', `six ${'x'.repeat(21)}`)], upsert: true },
    { a: 'seven', x: 'six' },
  ],
  [
    'an atomic bulk that fails at its last entry',
    'POST',
    'bulk',
    {
      atomic: true,
      requests: [
        entry(1, 'insert', { data: page('x', 'six') }),
        entry(2, 'update', { query: byId('a'), update: { $set: { title: 'seven' } } }),
        entry(3, 'delete', { query: byId('b') }),
        entry(4, 'update', { query: byId('c'), update: { $append: { tags: 'added' } } }),
        entry(5, 'insert', { data: page('y', 'seven', 'a') }),
      ],
    },
  ],
  [
    'a bulk of which one entry fails',
    'POST',
    'bulk',
    {
      requests: [
        entry(1, 'delete', { query: byId('b') }),
        entry(2, 'insert', { data: page('y', 'seven', 'a') }),
        entry(3, 'update', { query: byId('c'), update: { $append: { tags: 'added' } } }),
      ],
      ordered: false,
    },
    { b: '', c: 'almost twenty chars four five added' },
  ],
  [
    'a dry run',
    'POST',
    'update/page',
    { query: ALL, update: { $set: { title: 'six' } }, execution: { dryRun: true } },
  ],
]

function page(_id: string, title: string, code = _id): JsonObject {
  return { _id, title, code }
}

function byId(id: string): JsonObject {
  return { field: '_id', op: '=', rvalue: id }
}

function entry(seq: number, op: string, request: JsonObject): JsonObject {
  return { seq, op, request: { entity: 'page', ...request } }
}

onEveryStore(() => {
  let server: TestServer

  before(async () => {
    server = await startTestServer()
    await server.define('page', FIELDS, { info: { indexes: INDEXES } })
  })
  after(() => server[Symbol.asyncDispose]())
  beforeEach(async () => {
    await ask('POST', '/data/delete/page', { query: ALL })
    const { json, text } = await ask('PUT', '/data/insert/page', { data: BEFORE })
    assert.equal(json.modifiedCount, 3, text)
  })

  const ask = (method: string, path: string, body: JsonObject) => server.ask(method, path, { body })

  async function idsFound(query: JsonObject): Promise<readonly string[]> {
    const { json, text } = await ask('POST', '/data/find/page', { query, projection: { field: '_id' } })
    assert.ok(json.processed, text)
    return json.processed.map(({ _id }: { readonly _id: string }) => _id)
  }

  for (const [rule, method, path, body, changed = {}] of WRITES) {
    test(`find: by words, after ${rule}`, async () => {
      const { text } = await ask(method, `/data/${path}`, body)
      assert.equal(/"errorCode"/.test(text), !rule.includes('dry run'), text)
      const before = { a: 'one two', b: 'two three four', c: 'almost twenty chars four five' }
      const texts = Object.entries<string>({ ...before, ...changed }).filter(([, each]) => each !== '')
      for (const word of WORDS) {
        const having = texts.filter(([, each]) => each.split(' ').includes(word)).map(([id]) => id)
        const others = texts.map(([id]) => id).filter((id) => !having.includes(id))
        assert.deepEqual(await idsFound({ text: word }), having, word)
        assert.deepEqual(await idsFound({ text: `-${word}` }), others, `-${word}`)
      }
    })
  }
})
