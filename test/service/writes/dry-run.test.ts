/** Dry runs: the answer of the write, and a store in which nothing has changed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { dumpOf } from '../../support/dump.ts'
import { EVERYTHING } from '../../support/service.ts'
import { type Ask, type TestServer, startTestServer } from '../../support/server.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const FIELDS = {
  n: {
    type: 'integer',
    constraints: { required: true },
    valueGenerator: { type: 'IntSequence', configuration: { name: 'numbers' } },
  },
  i: { type: 'integer' },
  u: { type: 'string' },
  pay: { type: 'integer', access: { find: ['boss'] } },
}
const HOOKS = [
  { name: 'any', actions: ['insert', 'update', 'delete'] },
  { name: 'i-only', projection: { field: 'i' }, actions: ['update'] },
]
const INFO = {
  hooks: HOOKS,
  history: true,
  indexes: [{ name: 'u', unique: true, fields: [{ field: 'u', dir: '$asc' }] }],
}
const ONE = { field: '_id', op: '=', rvalue: '1' }
const ALL = { $and: [] }

async function open(options: Parameters<typeof startTestServer>[0] = {}): Promise<TestServer> {
  const server = await startTestServer(options)
  await server.define('thing', FIELDS, { info: INFO })
  const data = [
    { _id: '1', i: 1, u: 'a', pay: 7 },
    { _id: '2', i: 2, u: 'b' },
    { _id: '3', i: 3, u: 'c' },
  ]
  const answer = await server.ask('PUT', '/data/insert/thing', { body: { data } })
  assert.equal(answer.status, 200, answer.text)
  return server
}

interface Row {
  readonly method: string
  readonly path: string
  readonly body: JsonObject
  readonly events: Json
}

const ATOMIC = { atomic: true }

/** Each is run dry, and then for real: the answers are the same, but for generated values and versions. */
const ROWS: readonly Row[] = [
  {
    method: 'PUT',
    path: '/data/insert/thing',
    body: { data: [{ _id: '4', u: 'd' }, { _id: '5', u: 'a' }, { _id: '6', i: 'no' }, { _id: '7' }] },
    events: { any: 2, 'i-only': 0 },
  },
  {
    method: 'POST',
    path: '/data/save/thing',
    body: {
      data: [
        { _id: '1', i: 8, u: 'a' },
        { _id: '8', u: 'x' },
      ],
      upsert: true,
    },
    events: { any: 2, 'i-only': 1 },
  },
  {
    method: 'POST',
    path: '/data/update/thing',
    body: { query: ALL, update: { $add: { i: 1 } } },
    events: { any: 3, 'i-only': 3 },
  },
  {
    method: 'POST',
    path: '/data/update/thing',
    body: { query: ONE, update: { $set: { u: 'z' } } },
    events: { any: 1, 'i-only': 0 },
  },
  {
    method: 'POST',
    path: '/data/delete/thing',
    body: { query: { field: 'i', op: '>', rvalue: 3 } },
    events: { any: 2, 'i-only': 0 },
  },
  {
    method: 'PUT',
    path: '/data/insert/thing',
    body: {
      data: [
        { _id: '90', u: 'p' },
        { _id: '91', u: 'p' },
      ],
      execution: ATOMIC,
    },
    events: { any: 0, 'i-only': 0 },
  },
  {
    method: 'POST',
    path: '/data/update/thing',
    body: { query: ALL, update: [{ $add: { i: 1 } }, { $set: { u: 'z' } }], execution: ATOMIC },
    events: { any: 0, 'i-only': 0 },
  },
]

async function ask(server: TestServer, { method, path, body }: Omit<Row, 'events'>, more: Ask = {}) {
  const whole = path.includes('delete') ? body : { projection: EVERYTHING, ...body }
  const { status, json } = await server.ask(method, path, { ...more, body: whole })
  assert.equal(status, 200, JSON.stringify(json))
  return json as JsonObject
}

function comparable({ dryRun: _dryRun, resultMetadata, ...response }: JsonObject): JsonObject {
  return { ...response, shown: (resultMetadata as Json[] | undefined)?.length ?? 0 }
}

onEveryStore(() => {
  test('dry run: every write answers what it would do, and changes no byte of the store', async () => {
    await using server = await open()
    for (const row of ROWS) {
      const { body, events } = row
      const execution = body['execution'] as JsonObject | undefined
      const before = await dumpOf(server.location)
      const dry = await ask(server, { ...row, body: { ...body, execution: { ...execution, dryRun: true } } })
      assert.equal(await dumpOf(server.location), before, row.path)
      assert.deepEqual(dry['dryRun'], { events }, row.path)
      const real = await ask(server, row)
      assert.deepEqual(comparable(dry), comparable(real))
      assert.equal(real['dryRun'], undefined)
    }
    assert.deepEqual(server.faults(), [])
  })

  test('dry run: a bulk is one as a whole, entry by entry or in one transaction', async () => {
    await using server = await open()
    const entry = (seq: number, op: string, request: JsonObject): Json => ({
      seq,
      op,
      request: { entity: 'thing', ...request },
    })
    const requests = [
      entry(1, 'insert', { data: { _id: '9', u: 'q' }, projection: EVERYTHING }),
      entry(2, 'insert', { data: { _id: '9', u: 'r' }, projection: EVERYTHING }),
      entry(3, 'generate', { field: 'n', n: 2 }),
      entry(4, 'find', { query: { field: '_id', op: '=', rvalue: '9' }, projection: { field: '_id' } }),
    ]
    const before = await dumpOf(server.location)
    const send = async (body: JsonObject, headers = {}) => {
      const { json } = await server.ask('POST', '/data/bulk', { body: { requests, ...body }, headers })
      assert.equal(await dumpOf(server.location), before)
      return (json as { responses: { response: JsonObject }[] }).responses.map(({ response }) => response)
    }
    const apart = await send({ execution: { dryRun: true } })
    // no entry sees what another would have written
    assert.deepEqual(
      apart.map(({ status, modifiedCount, matchCount }) => [status, modifiedCount, matchCount]),
      [
        ['COMPLETE', 1, 0],
        ['COMPLETE', 1, 0],
        ['COMPLETE', 0, 0],
        ['COMPLETE', 0, 0],
      ],
    )
    assert.deepEqual(apart[0]!['dryRun'], { events: { any: 1, 'i-only': 0 } })
    assert.deepEqual(apart[2]!['processed'], [4, 5])
    const together = await send({ execution: { dryRun: true, atomic: true } })
    assert.deepEqual(
      together.map(({ status }) => status),
      ['ERROR', 'ERROR', 'ERROR', 'ERROR'],
    )
    const keyed = await send({ execution: { dryRun: true } }, { 'Idempotency-Key': 'k' })
    assert.deepEqual(
      keyed.map(({ status }) => status),
      apart.map(({ status }) => status),
    )
    const partly = [entry(1, 'delete', { query: ALL, execution: { dryRun: true } })]
    const refused = await send({ requests: partly, atomic: true })
    assert.match(JSON.stringify(refused), /not in that of an entry/)
  })

  test('dry run: every entry of a bulk that generates values says that they are not taken', async () => {
    await using server = await open()
    const before = await dumpOf(server.location)
    const thing = { entity: 'thing' }
    const requests: Json = [
      { seq: 1, op: 'generate', request: { ...thing, field: 'n', n: 2 } },
      { seq: 2, op: 'insert', request: { ...thing, data: { _id: '9' }, projection: EVERYTHING } },
      {
        seq: 3,
        op: 'save',
        request: { ...thing, data: { _id: '10' }, upsert: true, projection: EVERYTHING },
      },
      { seq: 4, op: 'generate', request: { ...thing, field: 'n' } },
      { seq: 5, op: 'find', request: { ...thing, query: ONE, projection: EVERYTHING } },
      {
        seq: 6,
        op: 'aggregate',
        request: { ...thing, values: { all: { $count: true } } },
      },
    ]
    const none = { events: { any: 0, 'i-only': 0 } }
    const inserted = { events: { any: 1, 'i-only': 0 } }
    for (const body of [{ ordered: true }, { ordered: false }, { atomic: true }]) {
      const { json } = await server.ask('POST', '/data/bulk', {
        body: { requests, ...body, execution: { dryRun: true } },
      })
      const { responses } = json as { responses: { response: JsonObject }[] }
      assert.deepEqual(
        responses.map(({ response }) => response['dryRun']),
        [none, inserted, inserted, none, undefined, undefined],
        JSON.stringify(body),
      )
    }
    assert.equal(await dumpOf(server.location), before)
  })

  test('dry run: events that the caller could not read are not counted', async () => {
    await using server = await open()
    const hooks = [{ name: 'pay', projection: { field: 'pay' }, actions: ['update'] }]
    await server.define('paid', FIELDS, { info: { hooks } })
    await server.ask('PUT', '/data/insert/paid', { body: { data: { _id: '1', pay: 7 } } })
    const set = {
      method: 'POST',
      path: '/data/update/paid',
      body: { query: ONE, update: { $set: { pay: 8 } }, execution: { dryRun: true } },
    }
    const boss = await ask(server, set, { roles: ['boss'] })
    assert.deepEqual(boss['dryRun'], { events: { pay: 1 } })
    const other = await ask(server, set)
    assert.deepEqual((other['dryRun'] as JsonObject | undefined) ?? { events: { pay: 0 } }, {
      events: { pay: 0 },
    })
  })

  test('dry run: requests that threads carry out write nothing either', async () => {
    await using server = await open({ inlineBodyBytes: 50 })
    const before = await dumpOf(server.location)
    const dry = await ask(server, { ...ROWS[0]!, body: { ...ROWS[0]!.body, execution: { dryRun: true } } })
    assert.equal(dry['modifiedCount'], 2)
    assert.equal(await dumpOf(server.location), before)
  })

  test('dry run: only true and false say so', async () => {
    await using server = await open()
    const { status, text } = await server.ask('POST', '/data/delete/thing', {
      body: { query: ALL, execution: { dryRun: 'yes' } },
    })
    assert.equal(status, 400)
    assert.match(text, /must be true or false/)
  })
})
