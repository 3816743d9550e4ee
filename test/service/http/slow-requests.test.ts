/** The list of slow requests over HTTP: what is kept, without a literal; how much; and for whom. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addToken } from '../../../src/auth/token-file.ts'
import { PERMISSIONS, type Permission } from '../../../src/access/caller.ts'
import { createAuthentication } from '../../../src/auth/create.ts'
import { type TestServer, startTestServer } from '../../support/server.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { bearer, scratch } from '../auth/harness.ts'

interface Slow {
  readonly operation: string
  readonly query?: string
}

/** Every request is slow. */
const ALL = { slowRequestMs: 0 }
const PATH = '/admin/slow-requests'
const EVERYTHING = { field: '*', recursive: true }

async function prepare(server: TestServer): Promise<void> {
  await server.define(
    'person',
    { name: { type: 'string' }, city: { type: 'string' }, born: { type: 'integer' } },
    { info: { indexes: [{ fields: [{ field: 'city' }] }] } },
  )
  const data = [
    { _id: 'p1', name: 'Secretname', city: 'Secretcity', born: 19_711_971 },
    { _id: 'p2', name: 'Other', city: 'Secretcity', born: 19_721_972 },
  ]
  const { status } = await server.ask('PUT', '/data/insert/person', { body: { data } })
  assert.equal(status, 200)
}

const CITY = { field: 'city', op: '=', rvalue: 'Secretcity' }

onEveryStore(() => {
  test('slow requests: newest first, with counts, the index that fits, and no literal', async () => {
    await using server = await startTestServer({ limits: ALL })
    await prepare(server)
    const body = { query: CITY, projection: EVERYTHING, sort: { born: '$desc' }, range: [0, 0] }
    await server.ask('POST', '/data/find/person', { body })
    await server.ask('GET', '/data/find/person?filter=name%20%3D%20%22Secretname%22')
    await server.ask('GET', '/documents/person?filter=born%20%3E%2019711970&sort=-born')
    await server.ask('POST', '/data/update/person', {
      body: { query: CITY, update: { $set: { name: 'Secretname2' } } },
    })
    await server.ask('POST', '/data/aggregate/person/1.0.0', {
      body: { query: CITY, groupBy: ['city'], values: { n: { $count: true } } },
    })
    await server.ask('POST', '/data/bulk', {
      body: { requests: [{ op: 'FIND', seq: 1, request: { entity: 'person', projection: EVERYTHING } }] },
    })
    await server.ask('POST', '/data/delete/person', {
      body: { query: { field: '_id', op: '$in', values: ['p1', 'p2'] } },
    })
    const { json, text } = await server.ask('GET', PATH)
    assert.equal(json.overMs, 0)
    assert.equal(json.kept, 100)
    for (const each of json.requests) {
      assert.ok(!Number.isNaN(Date.parse(each.at)))
      assert.ok(Number.isInteger(each.ms) && each.ms >= 0)
    }
    const told = json.requests.map(({ at: _at, ms: _ms, ...rest }: { at: string; ms: number }) => rest)
    const whole = { entity: 'person', version: '1.0.0' }
    assert.deepEqual(told, [
      { ...whole, operation: 'delete', matched: 2, modified: 2, query: '_id in (?)', index: '_id' },
      { ...whole, operation: 'find', matched: 2, modified: 0, returned: 2 },
      {
        ...whole,
        operation: 'aggregate',
        matched: 1,
        modified: 0,
        returned: 1,
        query: 'city = ?',
        index: 'city',
      },
      {
        ...whole,
        operation: 'update',
        matched: 2,
        modified: 2,
        returned: 2,
        query: 'city = ?',
        index: 'city',
      },
      { entity: 'person', operation: 'listDocuments', query: 'born > ?', sort: 'born desc' },
      { ...whole, operation: 'find', matched: 1, modified: 0, returned: 1, query: 'name = ?' },
      {
        ...whole,
        operation: 'find',
        matched: 2,
        modified: 0,
        returned: 1,
        query: 'city = ?',
        sort: 'born desc',
        index: 'city',
      },
      { ...whole, operation: 'insert', matched: 0, modified: 2, returned: 2 },
    ])
    for (const literal of ['Secret', '1971', 'p1']) assert.ok(!text.includes(literal), literal)
  })

  test('slow requests: those of worker threads are kept too', async () => {
    await using server = await startTestServer({ limits: ALL, inlineBodyBytes: 1 })
    await prepare(server)
    await server.ask('POST', '/data/find/person', { body: { query: CITY, projection: EVERYTHING } })
    const { json } = await server.ask('GET', PATH)
    assert.deepEqual(
      json.requests.map(({ operation, query }: Slow) => [operation, query]),
      [
        ['find', 'city = ?'],
        ['insert', undefined],
      ],
    )
  })

  test('slow requests: only as many as configured are kept, and no fast one', async () => {
    await using server = await startTestServer({ limits: { ...ALL, slowRequests: 3 } })
    await prepare(server)
    for (const field of ['name', 'city', 'born', '_id'])
      await server.ask('POST', '/data/find/person', {
        body: { query: { field, op: '=', rvalue: null }, projection: EVERYTHING },
      })
    const { json } = await server.ask('GET', PATH)
    assert.deepEqual(
      json.requests.map(({ query }: Slow) => query),
      ['_id = ?', 'born = ?', 'city = ?'],
    )
    await using fast = await startTestServer({ limits: { slowRequestMs: 600_000 } })
    await prepare(fast)
    assert.deepEqual((await fast.ask('GET', PATH)).json, { overMs: 600_000, kept: 100, requests: [] })
  })

  test('slow requests: a refused one has no shape, and one of no entity is not kept', async () => {
    await using server = await startTestServer({ limits: ALL })
    await prepare(server)
    const query = { field: 'Secretname', op: '=', rvalue: 1 }
    await server.ask('POST', '/data/find/person', { body: { query, projection: EVERYTHING } })
    await server.ask('POST', '/data/find/person/Secretversion', { body: { query, projection: EVERYTHING } })
    await server.ask('POST', '/data/find/Secretentity', { body: { query, projection: EVERYTHING } })
    const { json, text } = await server.ask('GET', PATH)
    assert.deepEqual(
      json.requests.map(({ operation, entity, errorCode }: Record<string, string>) => [
        operation,
        entity,
        errorCode,
      ]),
      [
        ['find', 'person', 'crud:UnknownEntity'],
        ['find', 'person', 'metadata:InvalidFieldReference'],
        ['insert', 'person', undefined],
      ],
    )
    assert.ok(!text.includes('Secret'), text)
  })

  const CASES: readonly (readonly [permissions: readonly Permission[], status: number])[] = [
    [[], 403],
    [['metadata.find'], 403],
    [['requests.inspect'], 403],
    [PERMISSIONS.filter((each) => each !== 'requests.inspect'), 403],
    [PERMISSIONS.filter((each) => each !== 'metadata.find'), 403],
    [['requests.inspect', 'metadata.find'], 200],
  ]
  for (const [permissions, expected] of CASES)
    test(`slow requests: ${expected} with ${permissions.join(', ') || 'no permission'}`, async () => {
      using folder = scratch()
      const file = folder.path('tokens.json')
      const { token } = await addToken(file, { principal: 'p', roles: ['admin'], permissions })
      const settings = {
        isOpen: false,
        hasCertificates: false,
        permissions: {},
        origins: [],
        tokens: { file },
      }
      const auth = await createAuthentication(settings, (error) => assert.fail(String(error)))
      await using server = await startTestServer({ limits: ALL, auth })
      const { status, text } = await server.ask('GET', PATH, { headers: bearer(token) })
      assert.equal(status, expected, text)
      assert.equal((await server.ask('GET', PATH)).status, 401)
      assert.equal((await server.ask('GET', PATH, { headers: { 'Smalt-Roles': 'admin' } })).status, 401)
    })
})
