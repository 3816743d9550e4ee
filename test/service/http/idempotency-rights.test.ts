/** Idempotency keys and row rules: an answer is repeated only to a caller who might see it, by the claims that rules use. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { EVERYTHING, metadataDocument } from '../../support/service.ts'
import { type Answer, type TestServer, startTestServer } from '../../support/server.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const FIELDS = { i: { type: 'integer' }, region: { type: 'string' } }
const OWN_REGION = {
  role: 'anyone',
  where: { field: 'region', op: '=', rvalue: '$caller.claims.org.region' },
}
const ACCESS = { insert: ['anyone'], update: ['anyone'], delete: ['anyone'], find: [OWN_REGION] }

/** The claims of two tokens of one caller in each region. */
const NORTH = { org: { region: 'north' }, exp: 1 }
const NORTH_LATER = { exp: 2, jti: 'x', org: { unit: 'b', region: 'north' } }
const SOUTH = { org: { region: 'south' }, exp: 1 }

interface Sent {
  readonly method: string
  readonly path: string
  readonly body: Json
}

const update = { query: { $and: [] }, update: { $add: { i: 1 } }, projection: EVERYTHING }
const entry = { seq: 1, op: 'update', request: { entity: 'thing', ...update } }

/** The answer to each shows documents. */
const WRITES: readonly Sent[] = [
  { method: 'POST', path: '/data/update/thing', body: update },
  { method: 'POST', path: '/data/bulk', body: { requests: [entry] } },
  { method: 'POST', path: '/data/bulk', body: { requests: [entry], atomic: true } },
  { method: 'PATCH', path: '/documents/thing/n', body: { i: 7 } },
]

function send(
  { ask }: TestServer,
  { method, path, body }: Sent,
  { key, claims }: { readonly key: string; readonly claims: JsonObject },
): Promise<Answer> {
  const headers = {
    'Idempotency-Key': key,
    'Smalt-Principal': 'ann',
    'Smalt-Claims': JSON.stringify(claims),
    ...(method === 'PATCH' && { 'Content-Type': 'application/merge-patch+json' }),
  }
  return ask(method, path, { body, headers })
}

onEveryStore(() => {
  test('idempotency: the answer to a caller is not repeated to the same caller with other claims', async () => {
    await using server = await startTestServer()
    await server.define('thing', FIELDS, { schema: { access: ACCESS } })
    const data = [
      { _id: 'n', i: 0, region: 'north' },
      { _id: 's', i: 0, region: 'south' },
    ]
    assert.equal((await server.ask('PUT', '/data/insert/thing', { body: { data } })).status, 200)
    for (const [i, sent] of WRITES.entries()) {
      const key = `${i}`
      const first = await send(server, sent, { key, claims: NORTH })
      assert.equal(first.status, 200, first.text)
      assert.match(first.text, /north/)
      const refused = await send(server, sent, { key, claims: SOUTH })
      assert.equal(refused.status, 422, refused.text)
      assert.match(refused.text, /crud:IdempotencyMismatch/)
      assert.doesNotMatch(refused.text, /north/)
      // a token that was renewed meanwhile differs in claims that no rule refers to
      const again = await send(server, sent, { key, claims: NORTH_LATER })
      assert.equal(again.headers['idempotency-replayed'], 'true', again.text)
      assert.equal(again.text, first.text)
    }
    assert.deepEqual(server.faults(), [])
  })

  test('idempotency: a change of metadata may add the first rule about a claim, and is repeated', async () => {
    await using server = await startTestServer()
    const body = metadataDocument('thing', FIELDS, { schema: { access: ACCESS } })
    const sent = { method: 'PUT', path: '/metadata/thing/1.0.0', body }
    const first = await send(server, sent, { key: 'k', claims: NORTH })
    assert.equal(first.status, 200, first.text)
    const again = await send(server, sent, { key: 'k', claims: NORTH })
    assert.equal(again.headers['idempotency-replayed'], 'true', again.text)
  })
})
