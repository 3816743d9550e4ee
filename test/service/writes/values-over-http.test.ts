/** Defaults and `CurrentUser` over HTTP: by data requests and as plain documents, with the names that tokens prove. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuthentication } from '../../../src/auth/create.ts'
import { addToken } from '../../../src/auth/token-file.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { startTestServer } from '../../support/server.ts'
import { ANYONE, EVERYTHING, failLoudly, metadataDocument } from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { bearer, scratch } from '../auth/harness.ts'

const FIELDS: JsonObject = {
  status: { type: 'string', default: 'new' },
  pieces: { type: 'integer', default: 3 },
  by: { type: 'string', constraints: { required: true }, valueGenerator: { type: 'CurrentUser' } },
  last: {
    type: 'string',
    constraints: { required: true },
    valueGenerator: { type: 'CurrentUser', overwrite: true },
  },
}

onEveryStore(() => {
  test('values: a new document gets defaults and the name of its caller, a change the name of who makes it', async () => {
    using folder = scratch()
    const file = folder.path('tokens.json')
    const headersOf = async (principal: string, roles: readonly string[] = []) =>
      bearer((await addToken(file, { principal, roles })).token)
    const [ann, bob] = [await headersOf('ann', ['admin']), await headersOf('bob')]
    const permissions = { 'metadata.insert': ['admin'] }
    const settings = { tokens: { file }, permissions, isOpen: false, hasCertificates: false, origins: [] }
    await using server = await startTestServer({ auth: await createAuthentication(settings, failLoudly) })
    const ask = async (method: string, path: string, body: Json, headers = ann): Promise<JsonObject> => {
      const { status, text, json } = await server.ask(method, path, { body, headers })
      assert.ok(status < 300, `${method} ${path}: ${text}`)
      return json as JsonObject
    }
    const shown = (document: Json | undefined): readonly Json[] => {
      const { status = null, pieces = null, by = null, last = null } = document as JsonObject
      return [status, pieces, by, last]
    }
    const written = (response: JsonObject): readonly Json[] => shown((response['processed'] as Json[])[0])
    await ask(
      'PUT',
      '/metadata/order/1.0.0',
      metadataDocument('order', FIELDS, { schema: { access: ANYONE } }),
    )

    const insert = { data: { _id: 'a' }, projection: EVERYTHING }
    assert.deepEqual(written(await ask('PUT', '/data/insert/order', insert)), ['new', 3, 'ann', 'ann'])
    const save = { data: { _id: 'b', pieces: 5 }, upsert: true, projection: EVERYTHING }
    assert.deepEqual(written(await ask('POST', '/data/save/order', save, bob)), ['new', 5, 'bob', 'bob'])
    const query = { field: '_id', op: '=', rvalue: 'a' }
    const update = { query, update: { $set: { status: 'old' } }, projection: EVERYTHING }
    assert.deepEqual(written(await ask('POST', '/data/update/order', update, bob)), ['old', 3, 'ann', 'bob'])

    assert.deepEqual(shown(await ask('POST', '/documents/order', { _id: 'c' })), ['new', 3, 'ann', 'ann'])
    const upserted = await ask('PUT', '/documents/order/d?upsert=true', { pieces: null }, bob)
    assert.deepEqual(shown(upserted), ['new', null, 'bob', 'bob'])
    const patched = await ask('PATCH', '/documents/order/c', { status: 'old' }, bob)
    assert.deepEqual(shown(patched), ['old', 3, 'ann', 'bob'])
  })
})
