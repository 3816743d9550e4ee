/** Idempotency keys: a write that is sent again happens once, and its sender gets the first answer again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { openStore } from '../../../src/store/open.ts'
import { EVERYTHING, metadataDocument } from '../../support/service.ts'
import { type Answer, type Ask, type TestServer, startTestServer } from '../../support/server.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const FIELDS = { i: { type: 'integer' }, s: { type: 'string' } }
const ONE = { field: '_id', op: '=', rvalue: '1' }

async function open(options: Parameters<typeof startTestServer>[0] = {}): Promise<TestServer> {
  const server = await startTestServer(options)
  await server.define('thing', FIELDS)
  const answer = await server.ask('PUT', '/data/insert/thing', { body: { data: [{ _id: '1', i: 0 }] } })
  assert.equal(answer.status, 200, answer.text)
  return server
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: Json
}

function send(
  { ask }: TestServer,
  { method, path, body }: Sent,
  key: string,
  more: Ask = {},
): Promise<Answer> {
  const headers = { 'Idempotency-Key': key, ...more.headers }
  return ask(method, path, { ...more, ...(body !== undefined && { body }), headers })
}

async function held(server: TestServer): Promise<readonly JsonObject[]> {
  const body = { projection: EVERYTHING, sort: { _id: '$asc' } }
  const { json } = await server.ask('POST', '/data/find/thing/1.0.0', { body })
  return (json as { processed: readonly JsonObject[] }).processed
}

interface EntryResponse {
  readonly response: { readonly errors?: readonly [{ readonly errorCode: string }] }
}

function responsesIn({ json }: Answer): readonly EntryResponse[] {
  return (json as { readonly responses: readonly EntryResponse[] }).responses
}

/** Why the entries of a bulk were refused. */
function codesIn(answer: Answer): readonly (string | undefined)[] {
  return responsesIn(answer).map(({ response }) => response.errors?.[0].errorCode)
}

const add = (by = 1): Sent => ({
  method: 'POST',
  path: '/data/update/thing',
  body: { query: ONE, update: { $add: { i: by } }, projection: EVERYTHING },
})

const entries = (more: JsonObject = {}): Json => ({
  requests: [
    { seq: 1, op: 'insert', request: { entity: 'thing', data: { s: 'made' }, projection: EVERYTHING } },
    { seq: 2, op: 'update', request: { entity: 'thing', query: ONE, update: { $add: { i: 1 } } } },
    { seq: 3, op: 'find', request: { entity: 'thing', query: ONE, projection: EVERYTHING } },
  ],
  ...more,
})

/** Each would have another effect, or another answer, the second time. */
const writes = (): Readonly<Record<string, Sent>> => ({
  insert: {
    method: 'PUT',
    path: '/data/insert/thing',
    body: { data: [{ s: 'made' }, { i: 'no number' }], projection: EVERYTHING },
  },
  save: {
    method: 'POST',
    path: '/data/save/thing/1.0.0',
    body: { data: [{ s: 'made' }], upsert: true, projection: EVERYTHING },
  },
  update: add(),
  bulk: { method: 'POST', path: '/data/bulk', body: entries() },
  'atomic bulk': { method: 'POST', path: '/data/bulk', body: entries({ atomic: true }) },
  'acquiring a lock': { method: 'PUT', path: '/data/lock/d/me/x' },
  'a lock by body': {
    method: 'POST',
    path: '/data/lock',
    body: { operation: 'acquire', domain: 'd', callerId: 'me', resourceId: 'y' },
  },
  'new metadata': {
    method: 'PUT',
    path: '/metadata/other/1.0.0',
    body: metadataDocument('other', FIELDS),
  },
  delete: { method: 'POST', path: '/data/delete/thing', body: { query: ONE } },
  'a status': { method: 'PUT', path: '/metadata/thing/1.0.0/deprecated?comment=old' },
  'no default version': { method: 'DELETE', path: '/metadata/thing/default' },
  'a sink': {
    method: 'POST',
    path: '/events/sinks',
    body: {
      name: 'k',
      url: 'https://example.com/x',
      roles: ['r'],
      secret: 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=',
    },
  },
})

/** Everything that a client can see of the store. */
async function state(server: TestServer): Promise<string> {
  const paths = [
    '/metadata/thing/history',
    '/metadata',
    '/events/sinks',
    '/data/lock/d/me/x',
    '/data/lock/d/me/y',
  ]
  const seen = await Promise.all(paths.map(async (path) => (await server.ask('GET', path)).text))
  return JSON.stringify([await held(server), seen])
}

onEveryStore((kind) => {
  test('idempotency: every write happens once, and is answered the same again', async () => {
    await using server = await open()
    for (const [name, sent] of Object.entries(writes())) {
      const first = await send(server, sent, name.replaceAll(' ', '-'))
      assert.equal(first.status, 200, `${name}: ${first.text}`)
      assert.equal(first.headers['idempotency-replayed'], undefined, name)
      const after = await state(server)
      const again = await send(server, sent, name.replaceAll(' ', '-'))
      assert.equal(again.text, first.text, name)
      assert.equal(again.status, 200, name)
      assert.equal(again.headers['idempotency-replayed'], 'true', name)
      assert.equal(await state(server), after, name)
    }
    assert.deepEqual(server.faults(), [])
  })

  test('idempotency: the answer outlives the process', async () => {
    await using kept = await open()
    const first = await send(kept, add(), 'k')
    // a second process; SQLite has one, which the store itself proves
    if (kind === 'postgres') {
      await using other = await startTestServer({ location: kept.location })
      const again = await send(other, add(), 'k')
      assert.equal(again.text, first.text)
    }
    assert.equal((await held(kept))[0]!['i'], 1)
  })

  test('idempotency: a key belongs to one request of one caller', async () => {
    await using server = await open()
    await send(server, add(), 'k')
    const refused: readonly (readonly [Sent, Ask])[] = [
      [add(2), {}],
      [{ ...add(), path: '/data/update/thing/1.0.0' }, {}],
      [add(), { roles: ['other'] }],
    ]
    for (const [sent, more] of refused) {
      const { status, json } = await send(server, sent, 'k', more)
      assert.equal(status, 422, JSON.stringify(sent))
      assert.equal(
        (json as { errors: { errorCode: string }[] }).errors[0]!.errorCode,
        'crud:IdempotencyMismatch',
      )
    }
    const metadata = await send(server, writes()['a status']!, 'k')
    assert.equal(metadata.status, 422)
    assert.equal((metadata.json as { errorCode: string }).errorCode, 'crud:IdempotencyMismatch')
    const bulk = await send(server, writes()['bulk']!, 'k')
    assert.equal(bulk.status, 422)
    const another = await send(server, add(), 'k', { headers: { 'Smalt-Principal': 'ann' } })
    assert.equal(another.headers['idempotency-replayed'], undefined)
    assert.equal((await held(server))[0]!['i'], 2)
  })

  test('idempotency: a bulk with another body is refused as a whole, and entries count once', async () => {
    await using server = await open()
    const sent = writes()['bulk']!
    await send(server, sent, 'k')
    const { status } = await send(server, { ...sent, body: entries({ ordered: false }) }, 'k')
    assert.equal(status, 422)
    assert.equal((await held(server)).length, 2)
  })

  test('idempotency: what was refused as a whole wrote nothing, and may succeed later', async () => {
    await using server = await open()
    const sent = { ...add(), path: '/data/update/later' }
    assert.equal((await send(server, sent, 'k')).status, 404)
    await server.define('later', FIELDS)
    const { status, headers } = await send(server, sent, 'k')
    assert.equal(status, 200)
    assert.equal(headers['idempotency-replayed'], undefined)
    const failing = {
      method: 'POST',
      path: '/data/bulk',
      body: {
        atomic: true,
        requests: [
          { seq: 1, op: 'update', request: { entity: 'thing', query: ONE, update: { $add: { i: 1 } } } },
          { seq: 2, op: 'insert', request: { entity: 'thing', data: { _id: '1' } } },
        ],
      },
    }
    const taken = await send(server, failing, 'b')
    assert.match(taken.text, /crud:Rolledback/)
    const again = await send(server, failing, 'b')
    assert.equal(again.headers['idempotency-replayed'], undefined)
    assert.equal((await held(server))[0]!['i'], 0)
  })

  test('idempotency: while the first request runs, a second one is refused', async () => {
    await using server = await open()
    const many = Array.from({ length: 2_000 }, (_, i) => ({ s: `${i}` }))
    const sent = { method: 'PUT', path: '/data/insert/thing', body: { data: many } }
    const answers = await Promise.all([1, 2, 3].map(() => send(server, sent, 'k')))
    const statuses = answers.map(({ status }) => status)
    assert.ok(statuses.includes(200), statuses.join())
    assert.ok(statuses.includes(409), statuses.join())
    assert.equal((await held(server)).length, 2_001)
    const refused = answers.find(({ status }) => status === 409)!
    assert.match(refused.text, /crud:IdempotencyConflict/)
    if (kind !== 'postgres') return
    // another process: the transaction of the first holds the key
    await using other = await openStore(server.location)
    const keyed = { caller: '', key: 'held', fingerprint: 'x', nowMs: Date.now() }
    await other.transact(async ({ bookkeeping }) => {
      await bookkeeping.keyedAnswers.find(keyed)
      const { status, text } = await send(server, add(), 'held')
      assert.equal(status, 409)
      assert.match(text, /still running/)
    })
  })

  test('idempotency: an import that is cut goes on where it was, and stores nothing twice', async () => {
    await using server = await open()
    const post = (body: string, key: string): Promise<Answer> =>
      server.ask('POST', '/data/import/thing', {
        body: Buffer.from(body),
        headers: { 'Content-Type': 'application/x-ndjson', 'Idempotency-Key': key },
      })
    const records = Array.from({ length: 1_200 }, (_, i) => `{"s":"${i}"${i === 3 ? ',"none":1' : ''}}\n`)
    const whole = records.join('')
    // what arrived of a connection that was lost after the second batch
    const cut = await post(records.slice(0, 1_000).join(''), 'k')
    assert.equal((await held(server)).length, 1_000)
    const first = await post(whole, 'k')
    assert.deepEqual(first.text.split('\n').slice(0, 3), cut.text.split('\n').slice(0, 3))
    assert.equal((await held(server)).length, 1_200)
    const again = await post(whole, 'k')
    assert.equal(again.text, first.text)
    assert.match(again.text, /"status":"PARTIAL","records":1200,"modifiedCount":1199,"failed":1/)
    const other = await post(whole.replace('"700"', '"x"'), 'k')
    assert.match(other.text, /"records":500,.*crud:IdempotencyMismatch/)
    assert.equal((await held(server)).length, 1_200)
    const [one, two] = await Promise.all([post(whole, 'both'), post(whole, 'both')])
    assert.deepEqual([one.status, two.status].sort(), [200, 409])
    assert.equal((await held(server)).length, 2_399)
  })

  test('idempotency: what changes nothing in the store refuses a key, and says why', async () => {
    await using server = await open()
    const ticket = { method: 'POST', path: '/auth/ticket', body: { path: '/events/stream' } }
    for (const sent of [ticket, { method: 'POST', path: '/admin/backup' }]) {
      const { status, text } = await send(server, sent, 'k')
      assert.equal(status, 400, text)
      assert.match(text, /takes no Idempotency-Key: a (?:ticket|backup) changes nothing in the store/)
    }
  })

  test('idempotency: generate refuses a key, because a repetition would generate other values', async () => {
    await using server = await open()
    const path = '/data/generate/thing/1.0.0/n'
    for (const each of [path, path.replace('/1.0.0', '')]) {
      const { status, text } = await send(server, { method: 'GET', path: each }, 'k')
      assert.equal(status, 400, text)
      assert.match(text, /takes no Idempotency-Key: .* a repetition generates others/)
    }
    const { status, text } = await send(server, { method: 'GET', path: '/data/find/thing' }, 'k')
    assert.equal(status, 200, text)
  })

  test('idempotency: requests that threads carry out happen once, too', async () => {
    await using server = await open({ inlineBodyBytes: 100 })
    const sent = {
      method: 'PUT',
      path: '/data/insert/thing',
      body: { data: [{ s: 'x'.repeat(200) }], projection: EVERYTHING },
    }
    const first = await send(server, sent, 'k')
    assert.equal((await send(server, sent, 'k')).text, first.text)
    assert.equal((await held(server)).length, 2)
    const metadata = { ...writes()['new metadata']! }
    const made = await send(server, metadata, 'm')
    assert.equal(made.status, 200, made.text)
    const again = await send(server, metadata, 'm')
    assert.equal(again.text, made.text)
    assert.equal(again.headers['idempotency-replayed'], 'true')
  })

  test('idempotency: keys are bounded in form, answers in size, and both in number', async () => {
    await using server = await open({ limits: { idempotencyKeys: 3, idempotencyAnswerBytes: 2_000 } })
    for (const key of ['', 'a b', 'ü', 'x'.repeat(256)]) {
      const { status, text } = await send(server, add(), encodeURI(key) === key ? key : 'a\u00fc')
      assert.equal(status, 400, key)
      assert.match(text, /1 to 255 visible ASCII characters/)
    }
    const large = {
      method: 'PUT',
      path: '/data/insert/thing',
      body: { data: [{ s: 'x'.repeat(3_000) }], projection: EVERYTHING },
    }
    const refused = await send(server, large, 'large')
    assert.equal(refused.status, 413)
    assert.match(refused.text, /nothing was written/)
    assert.equal((await held(server)).length, 1)
    for (const key of ['1', '2', '3']) assert.equal((await send(server, add(), key)).status, 200)
    const beyond = await send(server, add(), '4')
    assert.equal(beyond.status, 400)
    assert.match(beyond.text, /crud:LimitExceeded/)
    for (const key of ['1', '3']) {
      const again = await send(server, add(), key)
      assert.equal(again.headers['idempotency-replayed'], 'true', again.text)
    }
    assert.equal((await server.ask('POST', '/data/update/thing', { body: add().body! })).status, 200)
  })

  test('idempotency: a bulk whose parts took all keys is repeated with its answer', async () => {
    await using server = await open({ limits: { idempotencyKeys: 3 } })
    const requests = ['a', 'b'].map((s, seq) => ({
      seq,
      op: 'insert',
      request: { entity: 'thing', data: { s }, projection: EVERYTHING },
    }))
    const bulk = { method: 'POST', path: '/data/bulk', body: { requests } }
    const first = await send(server, bulk, 'k')
    const again = await send(server, bulk, 'k')
    assert.equal(again.text, first.text)
    assert.equal(again.headers['idempotency-replayed'], 'true')
    assert.match((await send(server, add(), 'other')).text, /crud:LimitExceeded/)
  })

  test('idempotency: entries of a bulk that were refused as a whole are carried out by a repetition', async () => {
    await using server = await open()
    const later = { seq: 4, op: 'insert', request: { entity: 'later', data: { s: 'late' } } }
    const { requests } = entries() as { readonly requests: readonly Json[] }
    const bulk = { method: 'POST', path: '/data/bulk', body: { requests: [...requests, later] } }
    const first = await send(server, bulk, 'k')
    assert.deepEqual(codesIn(first), [undefined, undefined, undefined, 'crud:UnknownEntity'])
    await server.define('later', FIELDS)
    const second = await send(server, bulk, 'k')
    assert.deepEqual(codesIn(second), [undefined, undefined, undefined, undefined])
    assert.equal(second.headers['idempotency-replayed'], undefined)
    assert.deepEqual(responsesIn(second).slice(0, 2), responsesIn(first).slice(0, 2))
    const third = await send(server, bulk, 'k')
    assert.equal(third.headers['idempotency-replayed'], 'true')
    assert.equal(third.text, second.text)
    const added = (await held(server)).map(({ i }) => i)
    assert.deepEqual(added.toSorted(), [1, undefined])
  })

  for (const ordered of [true, false]) {
    test(`idempotency: a repeated bulk with ordered ${ordered} and a refused entry before one that is done`, async () => {
      await using server = await open()
      const saving = (seq: number, version: string): JsonObject => ({
        seq,
        op: 'save',
        request: { entity: 'thing', entityVersion: version, data: { _id: '1', s: version }, upsert: true },
      })
      // of a document that exists: once the version exists, the entry is carried out, and the document fails
      const inserting = { entity: 'thing', entityVersion: '2.0.0', data: { _id: '1' } }
      const requests = [
        { seq: 0, op: 'insert', request: inserting },
        saving(1, '2.0.0'),
        saving(2, '1.0.0'),
        { seq: 3, op: 'save', request: { ...inserting, execution: 1 } },
        { seq: 4, op: 'insert', request: { entity: 'thing', data: { _id: '2', s: 'last' } } },
      ]
      const bulk = { method: 'POST', path: '/data/bulk', body: { ordered, requests } }
      const unknown = 'crud:UnknownEntity'
      const invalid = 'crud:InvalidRequest'
      for (let i = 0; i < 2; i++) {
        const codes = codesIn(await send(server, bulk, 'k'))
        assert.deepEqual(codes, [unknown, unknown, undefined, invalid, undefined])
      }
      const next = metadataDocument('thing', FIELDS, {
        schema: { version: { value: '2.0.0', changelog: '2' } },
      })
      const body = (next as { readonly schema: Json }).schema
      assert.equal((await server.ask('PUT', '/metadata/thing/schema=2.0.0', { body })).status, 200)
      for (let i = 0; i < 2; i++) {
        const answer = await send(server, bulk, 'k')
        const first = ordered ? invalid : undefined
        assert.deepEqual(codesIn(answer), [first, first, undefined, invalid, undefined])
        assert.equal(
          answer.text.match(/a later one of the ordered bulk is done/g)?.length,
          ordered ? 2 : undefined,
        )
      }
      assert.deepEqual(
        (await held(server)).map(({ s }) => s),
        [ordered ? '1.0.0' : '2.0.0', 'last'],
      )
    })
  }

  test('idempotency: entries of a bulk that fail for the moment are tried again, in threads too', async () => {
    await using server = await open({ limits: { idempotencyKeys: 3, idempotencyAnswerBytes: 2_000 } })
    const many = Array.from({ length: 3_000 }, (_, i) => ({ s: `${i}` }))
    await server.ask('PUT', '/data/insert/thing', { body: { data: many } })
    const change = { query: { field: 's', op: '!=', rvalue: 'x' }, update: { $set: { s: 'x' } } }
    const slow = { entity: 'thing', ...change, execution: { maxTimeMs: 1 } }
    const large = { entity: 'thing', data: many, projection: EVERYTHING }
    const requests = ['1', '2', '3', '4'].map((_id, seq) => ({
      seq,
      op: 'insert',
      request: { entity: 'thing', data: { _id: `new${_id}` } },
    }))
    for (const [request, op, code] of [
      [slow, 'update', 'store-crud:Timeout'],
      [large, 'insert', 'crud:ResultSizeTooLarge'],
    ] as const) {
      const bulk = { method: 'POST', path: '/data/bulk', body: { requests: [{ seq: 1, op, request }] } }
      for (let i = 0; i < 2; i++) {
        const answer = await send(server, bulk, op)
        assert.deepEqual(codesIn(answer), [code])
        assert.equal(answer.headers['idempotency-replayed'], undefined)
      }
    }
    const bulk = { method: 'POST', path: '/data/bulk', body: { ordered: true, requests } }
    const codes = codesIn(await send(server, bulk, 'keys'))
    assert.deepEqual(codes, [undefined, undefined, undefined, 'crud:LimitExceeded'])
    const again = await send(server, bulk, 'keys')
    assert.equal(again.headers['idempotency-replayed'], undefined)
    assert.deepEqual(codesIn(again), codes)
  })

  test('idempotency: an answer is kept as long as configured, then removed', async () => {
    let now = Date.UTC(2026, 0, 1)
    await using server = await open({ now: () => new Date(now), limits: { idempotencyTimeMs: 1_000 } })
    await send(server, add(), 'k')
    now += 999
    assert.equal((await send(server, add(), 'k')).headers['idempotency-replayed'], 'true')
    now += 2
    const later = await send(server, add(), 'k')
    assert.equal(later.headers['idempotency-replayed'], undefined)
    assert.equal((await held(server))[0]!['i'], 2)
    if (kind !== 'postgres') return
    await using store = await openStore(server.location)
    assert.equal(await store.keyedAnswers.trim(now), 0)
    assert.equal(await store.keyedAnswers.trim(now + 5_000), 1)
    assert.equal((await store.keyedAnswers.usage('', { maxKeys: 10, nowMs: 0 })).keys, 0)
  })

  test('idempotency: a read takes no notice of a key', async () => {
    await using server = await open()
    const body = { projection: EVERYTHING }
    const find = { method: 'POST', path: '/data/find/thing', body }
    for (let i = 0; i < 2; i++) {
      const { status, headers } = await send(server, find, 'k')
      assert.equal(status, 200)
      assert.equal(headers['idempotency-replayed'], undefined)
    }
  })
})
