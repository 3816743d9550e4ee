/** Requests that threads beside the main one carry out: the same answers, nothing lost, and nobody kept waiting. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Json } from '../../../src/base/json/json.ts'
import { type Answer, type TestServer, startTestServer } from '../../support/server.ts'
import { ANYONE } from '../../support/service.ts'
import { STORES, chooseStore } from '../../support/store-kind.ts'

const ALL: Json = { field: '*', recursive: true }
const ID: Json = { field: '_id' }
const FIELDS: Json = {
  n: { type: 'integer' },
  s: { type: 'string', constraints: { maxLength: 30_000 } },
  xs: {
    type: 'array',
    items: { type: 'object', fields: { a: { type: 'integer' }, b: { type: 'integer' } } },
  },
}
const MANY = Array.from({ length: 1_000 }, (_, i) => ({ a: i, b: -1 - i }))
/** A product of three arrays of a thousand elements. */
const PRODUCT: Json = {
  field: 'xs',
  match: {
    array: '$parent.xs',
    elemMatch: { array: '$parent.xs', elemMatch: { field: 'a', op: '=', rfield: 'b' } },
  },
  projection: ALL,
}

for (const kind of STORES) {
  const start = async (settings: Parameters<typeof startTestServer>[0] = {}): Promise<TestServer> => {
    chooseStore(kind)
    const server = await startTestServer(settings)
    await server.define('d', FIELDS, {
      info: { hooks: [{ name: 'all', actions: ['insert', 'update'] }] },
    })
    return server
  }
  let shared: Promise<TestServer> | undefined
  /** For tests with documents of their own: a thread takes as long to start as most of them do. */
  const share = (): Promise<TestServer> => (shared ??= start())
  after(async () => {
    await (await shared)?.[Symbol.asyncDispose]()
  })

  test(`threads: every operation is answered as by the main thread (${kind})`, async () => {
    await using inline = await start()
    await using offloaded = await start({ inlineBodyBytes: 0 })
    for (const [method, path, body] of OPERATIONS) {
      const [expected, answer] = [
        await inline.ask(method, path, { body }),
        await offloaded.ask(method, path, { body }),
      ]
      assert.equal(answer.status, expected.status, `${path}: ${answer.text}`)
      assert.equal(comparable(answer), comparable(expected), path)
    }
    assert.deepEqual([...inline.faults(), ...offloaded.faults()], [])
  })

  test(`threads: a large document that the service has to check, beside conditions on others (${kind})`, async () => {
    const server = await share()
    const text = { type: 'string' }
    await server.define('maker', { _id: text, name: text })
    const query = { field: '_id', op: '=', rfield: '$parent.by' }
    await server.define('item', {
      _id: text,
      s: text,
      by: text,
      maker: { type: 'reference', entity: 'maker', query },
    })
    const large = `${'1'.repeat(2_500_000)}Ä`
    for (const [entity, data] of [
      ['maker', { _id: 'a', name: 'x' }],
      ['item', { _id: '1', by: 'a', s: large }],
    ] as const) {
      const stored = await server.ask('PUT', `/data/insert/${entity}`, { body: { data } })
      assert.equal(stored.status, 200, stored.text.slice(0, 500))
    }
    // PostgreSQL cannot evaluate these patterns.
    const letter = { regex: '\\pL$', caseInsensitive: true }
    const body = {
      query: {
        $and: [
          { field: 's', ...letter },
          {
            $or: [
              { field: 'maker.*.name', ...letter },
              { field: 'by', op: '=', rvalue: 'b' },
            ],
          },
        ],
      },
    }
    const found = await server.ask('POST', '/data/find/item', { body: { ...body, projection: ID } })
    assert.deepEqual(found.json.processed, [{ _id: '1' }], found.text)
    const values = { count: { $count: true } }
    const counted = await server.ask('POST', '/data/aggregate/item', { body: { ...body, values } })
    assert.deepEqual(counted.json.processed, [{ count: 1 }], counted.text)
    assert.deepEqual(server.faults(), [])
  })

  test(`threads: large events are rendered there, for each reader (${kind})`, async () => {
    const server = await share()
    const secret = { type: 'string', access: { find: ['boss'] } }
    const own = { role: 'owner', where: { field: 'mine', op: '=', rvalue: true } }
    const hooks = [{ name: 'all', actions: ['insert', 'update'] }]
    await server.define(
      'large',
      { any: { type: 'any' }, secret, mine: { type: 'boolean' } },
      { info: { hooks }, schema: { access: { ...ANYONE, find: ['boss', 'clerk', own] } } },
    )
    const any = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]))
    const digits = '12345678901234567890.12345678901234567890'
    const text = JSON.stringify({ ...any, digits: 'D', long: 'x'.repeat(50_000) }).replace('"D"', digits)
    const sent = await server.ask('PUT', '/data/insert/large', {
      body: `{"data":{"_id":"1","secret":"s","mine":true,"any":${text}}}`,
      roles: ['boss'],
    })
    assert.equal(sent.status, 200, sent.text)
    const read = (roles: readonly string[], wait = 20): Promise<Answer> =>
      server.ask('GET', `/events?entity=large&since=0&wait=${wait}`, { roles: [...roles] })
    // At the same time: those who see the same share one rendering.
    const [clerk, again, boss, owner] = await Promise.all([
      read(['clerk']),
      read(['clerk']),
      read(['boss']),
      read(['owner']),
    ])
    for (const answer of [clerk, boss, owner]) {
      assert.equal(answer.status, 200, answer.text.slice(0, 300))
      assert.ok(answer.text.includes(`"digits":${digits}`))
      assert.equal(answer.json.events[0].after.any.k19999, 19_999)
    }
    assert.equal(again.text, clerk.text)
    assert.equal(clerk.json.events[0].after.secret, undefined)
    assert.equal(boss.json.events[0].after.secret, 's')
    assert.deepEqual(boss.json.events[0].changed, ['objectType', '_id', 'any', 'secret', 'mine'])
    assert.deepEqual(owner.json, clerk.json)
    assert.equal((await read(['clerk'])).text, clerk.text)
    assert.deepEqual((await read(['nobody'], 0)).json.events, [])
    assert.deepEqual(server.faults(), [])
  })

  test(`threads: what the main thread parses itself is small (${kind})`, async () => {
    const server = await share()
    const id = '\\ud83d\\ude00'.repeat(1_000)
    const ids = `"domain":"${id}","callerId":"${id}","resourceId":"${id}"`
    const counted = await server.ask('POST', '/data/lock', { body: `{"operation":"count",${ids}}` })
    assert.equal(counted.json.errors[0].errorCode, 'crud:InvalidLock')
    const body = `{"operation":"count"${' '.repeat(128 * 1024)}}`
    assert.equal((await server.ask('POST', '/data/lock', { body })).status, 413)
  })

  test(`threads: a streamed find has a limit of values, whatever its text contains (${kind})`, async () => {
    const server = await share()
    const find = (value: string): Promise<Answer> =>
      server.ask('POST', '/data/find/d?stream=true', {
        body: `{"query":{"field":"s","op":"=","rvalue":"x"},"projection":{"field":"n"},"range":${value}}`,
      })
    const many = await find(`[${'{},'.repeat(60_000)}1]`)
    assert.equal(many.status, 413)
    assert.match(many.json.errors[0].msg, /50000 values/)
    assert.match((await find(`"${'{},[\\",'.repeat(30_000)}"`)).text, /range/)
  })

  test(`threads: what they write is seen by the main thread at once (${kind})`, async () => {
    await using server = await start({ inlineBodyBytes: 2_000 })
    const polled = server.ask('GET', '/events?entity=d&wait=20')
    const big = { _id: 'big', n: 1, s: 'x'.repeat(5_000) }
    const stored = await server.ask('PUT', '/data/insert/d', { body: { data: big } })
    assert.equal(stored.json.modifiedCount, 1, stored.text)
    const found = await server.ask('GET', '/data/find/d?Q=_id:big&P=n:1')
    assert.deepEqual(found.json.processed, [{ n: 1 }])
    assert.equal((await polled).json.events[0].documentId, 'big')
    const description = 'y'.repeat(5_000)
    await server.define('later', { t: { type: 'string', description } })
    assert.equal((await server.ask('GET', '/data/find/later')).json.status, 'COMPLETE')
  })

  test(`threads: one that does not stop in time is ended, and nothing of it is written (${kind})`, async () => {
    await using server = await start()
    const slow = {
      query: { field: 'n', op: '=', rvalue: 1 },
      update: { $set: { n: 2 } },
      projection: PRODUCT,
      execution: { maxTimeMs: 300 },
    }
    await server.ask('PUT', '/data/insert/d', { body: { data: { _id: '1', n: 1, xs: MANY } } })
    const answer = await server.ask('POST', '/data/update/d', { body: slow })
    // on a busy machine the thread may have to be ended, and PostgreSQL does not tell whether it had committed
    assert.match(answer.json.errors[0].errorCode, /^store-crud:(Timeout|OutcomeUnknown)$/, answer.text)
    // a pattern over a long text cannot be interrupted: its thread is ended
    await server.define('p', { s: { type: 'string', constraints: { matches: '.*[a-m][a-z ]{300}[0-9].*' } } })
    let state = 1
    const letters = Array.from({ length: 60_000 }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      return 'abcdefghijklm nopqrstuvwxyz'[(state >>> 16) % 27]
    })
    const insert = { data: { s: letters.join('') }, execution: { maxTimeMs: 300 } }
    const ended = await server.ask('PUT', '/data/insert/p', { body: insert })
    assert.match(ended.json.errors[0].errorCode, /^store-crud:(Timeout|OutcomeUnknown)$/, ended.text)
    const after = await server.ask('PUT', '/data/insert/d', { body: { data: { _id: '2', n: 1 } } })
    assert.equal(after.json.modifiedCount, 1, after.text)
    assert.deepEqual((await server.ask('GET', '/data/find/d?P=n:1')).json.processed, [{ n: 1 }, { n: 1 }])
    assert.equal((await server.ask('GET', '/data/find/p')).json.matchCount, 0)
  })

  test(`threads: an entry of a bulk, or a line of a stream, that is too much moves alone (${kind})`, async () => {
    const server = await share()
    const xs = MANY.slice(0, 120)
    await server.ask('PUT', '/data/insert/d', { body: { data: { _id: '1', n: 1, xs } } })
    const find = { entity: 'd', query: { field: '_id', op: '=', rvalue: '1' }, projection: [ID, PRODUCT] }
    const requests = [
      { seq: 1, op: 'insert', request: { entity: 'd', data: { _id: '2', n: 2 } } },
      { seq: 2, op: 'find', request: find },
      { seq: 3, op: 'find', request: { ...find, projection: ID } },
    ]
    const bulk = await server.ask('POST', '/data/bulk', { body: { requests } })
    const responses = bulk.json.responses.map(
      ({ response }: { response: { status: string; processed: Json } }) => [
        response.status,
        response.processed,
      ],
    )
    assert.deepEqual(responses, [
      ['COMPLETE', [{}]],
      ['COMPLETE', [{ _id: '1' }]],
      ['COMPLETE', [{ _id: '1' }]],
    ])
    const stream = await server.ask('POST', '/data/find/d?stream=true', {
      body: { projection: [ID, PRODUCT], sort: { _id: '$asc' } },
    })
    const lines = stream.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      lines.slice(1, -1).map(({ processed }: { processed: Json }) => processed),
      [{ _id: '1' }, { _id: '2' }],
    )
    assert.deepEqual(server.faults(), [])
  })
}

test('threads: an index over many documents is built beside the main thread (sqlite)', async () => {
  chooseStore('sqlite')
  await using server = await startTestServer()
  await server.define('d', FIELDS)
  const data = Array.from({ length: 1_500 }, (_, i) => ({ _id: `d${i}`, n: i % 700 }))
  await server.ask('PUT', '/data/insert/d', { body: { data } })
  const { json } = await server.ask('GET', '/metadata/d/1.0.0')
  const indexed = (unique: boolean): Json => ({
    ...json.entityInfo,
    indexes: [{ name: 'by n', unique, fields: [{ field: 'n', dir: '$asc' }] }],
  })
  const refused = await server.ask('PUT', '/metadata/d', { body: indexed(true) })
  assert.equal(refused.json.errorCode, 'metadata:InvalidIndex', refused.text)
  const built = await server.ask('PUT', '/metadata/d', { body: indexed(false) })
  assert.equal(built.status, 200, built.text)
  const explained = await server.ask('GET', '/data/explain/d?Q=n:5')
  assert.match(explained.text, /idx_|by n/)
})

const OPERATIONS: readonly (readonly [method: string, path: string, body: Json])[] = [
  [
    'PUT',
    '/data/insert/d',
    {
      data: [
        { _id: '1', n: 1, s: 'a', xs: [{ a: 1 }] },
        { _id: '2', n: 'x' },
      ],
      projection: ALL,
    },
  ],
  ['POST', '/data/save/d', { data: { _id: '1', n: 3 }, projection: ALL }],
  ['POST', '/data/save/d', { data: { _id: '3', n: 3.5 }, upsert: true, projection: ALL }],
  [
    'POST',
    '/data/update/d',
    { query: { field: 'n', op: '=', rvalue: 3 }, update: { $add: { n: 1 } }, projection: ALL },
  ],
  [
    'POST',
    '/data/find/d',
    { query: { field: 'n', op: '>', rvalue: 0 }, projection: ALL, sort: { n: '$desc' } },
  ],
  ['POST', '/data/find/d', { query: { field: 'nope', op: '=', rvalue: 1 }, projection: ALL }],
  ['POST', '/data/find/d', { projections: ALL }],
  ['POST', '/data/bulk', { requests: [{ seq: 1, op: 'find', request: { entity: 'd', projection: ALL } }] }],
  [
    'POST',
    '/data/bulk',
    { atomic: true, requests: [{ seq: 1, op: 'delete', request: { entity: 'd', query: { $and: [] } } }] },
  ],
  ['POST', '/data/find/nobody', { projection: ALL }],
  ['PUT', '/metadata/x/1.0.0', { entityInfo: { name: 'y' } }],
]

/** Without versions of documents, which tell the time. */
function comparable({ text }: Answer): string {
  return text.replaceAll(/"documentVersion":"[^"]*"/g, '')
}
