/** The mode `lightblue`: what it changes, and that it changes nothing else. */
import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { metadataDocument } from '../../support/service.ts'
import { type TestServer, startTestServer } from '../../support/server.ts'
import { freshPlace, onEveryStore, storeKind } from '../../support/store-kind.ts'

const FIELDS: JsonObject = {
  code: { type: 'string', constraints: { identity: true } },
  name: { type: 'string' },
  secret: { type: 'string', access: { find: ['boss'] } },
  rows: {
    type: 'array',
    items: {
      type: 'object',
      fields: { n: { type: 'integer' }, tags: { type: 'array', items: { type: 'string' } } },
    },
  },
  any: { type: 'any' },
}
const DOCUMENT: JsonObject = {
  _id: '1',
  code: 'a',
  name: 'Ann',
  secret: 's',
  rows: [{ n: 1, tags: ['x', 'y'] }],
  any: [{ 'n#': 5, big: 12345678901234567890n.toString() }],
}
const EVERYTHING = { field: '*', include: true, recursive: true }
const MONGO = { backend: 'mongo', datasource: 'mongodata', collection: 'thing' }

async function open(): Promise<TestServer> {
  const server = await startTestServer({ compatibility: 'lightblue' })
  await server.define('thing', FIELDS, { info: { datastore: MONGO } })
  const stored = await server.ask('PUT', '/data/insert/thing', { body: { data: DOCUMENT } })
  assert.equal(stored.json.status, 'COMPLETE', stored.text)
  return server
}

onEveryStore(() => {
  test('find: a body of GET is ignored', async () => {
    await using server = await open()
    const answer = await server.ask('GET', '/data/find/thing', { body: {} })
    assert.equal(answer.status, 200, answer.text)
  })

  test('metadata: names of backends and datasources come back as written, and can be written again', async () => {
    await using server = await open()
    for (const datastore of [
      MONGO,
      { backend: 'rdbms', datasource: 'oracle', collection: 'thing' },
      { backend: 'ldap', collection: 'thing' },
      { backend: storeKind(), datasource: 'unknown', collection: 'thing' },
      { backend: storeKind(), datasource: 'default', collection: 'thing' },
    ]) {
      const body = metadataDocument('thing', FIELDS, { info: { datastore } })
      const info = await server.ask('PUT', '/metadata/thing', { body: body['entityInfo']! })
      assert.equal(info.status, 200, info.text)
      const read = await server.ask('GET', '/metadata/thing/1.0.0')
      assert.deepEqual(read.json.entityInfo.datastore, datastore)
      const again = await server.ask('PUT', '/metadata/thing/1.0.0', { body: read.json })
      assert.deepEqual([again.status, again.json.entityInfo.datastore], [200, datastore])
      assert.equal((await server.ask('GET', '/data/find/thing')).json.matchCount, 1)
    }
    const unknown = metadataDocument('other', FIELDS, {
      info: { datastore: { backend: 'zz', collection: 'x' } },
    })
    const refused = await server.ask('PUT', '/metadata/other/1.0.0', { body: unknown })
    assert.deepEqual([refused.status, refused.json.errorCode], [422, 'metadata:UnknownBackend'])
  })

  test('metadata: names of backends are known keys, in single documents and in lists', async () => {
    await using server = await open()
    const body = (name: string) => metadataDocument(name, FIELDS, { info: { datastore: MONGO } })
    const single = await server.ask('PUT', '/metadata/single/1.0.0?strict=true', { body: body('single') })
    const list = await server.ask('PUT', '/metadata?strict=true', { body: [body('a'), body('b')] })
    assert.deepEqual([single.status, list.status], [200, 200], `${single.text}${list.text}`)
    for (const written of [single.json, ...list.json]) {
      const codes = written.warnings.map(({ code }: { readonly code: string }) => code)
      assert.deepEqual(written.entityInfo.datastore, MONGO)
      assert.ok(!codes.includes('unknown-key'), codes.join())
    }
    const misspelt = metadataDocument('c', FIELDS, { info: { datastore: MONGO, hoks: [] } })
    const refused = await server.ask('PUT', '/metadata/c/1.0.0?strict=true', { body: misspelt })
    assert.equal(refused.status, 422, refused.text)
  })

  test('metadata: what was written in this mode is usable without it', async () => {
    await using place = await freshPlace()
    const { location } = place
    {
      await using server = await startTestServer({ compatibility: 'lightblue', location })
      await server.define('thing', FIELDS, { info: { datastore: MONGO } })
      await server.ask('PUT', '/data/insert/thing', { body: { data: DOCUMENT } })
    }
    await using server = await startTestServer({ location })
    assert.equal((await server.ask('GET', '/data/find/thing')).json.matchCount, 1)
    const { datastore } = (await server.ask('GET', '/metadata/thing/1.0.0')).json.entityInfo
    assert.deepEqual([datastore.backend, datastore.datasource], [storeKind(), 'default'])
  })

  test('metadata: unknown entities are empty lists, unknown versions have the code of Lightblue', async () => {
    await using server = await open()
    for (const method of ['GET', 'DELETE']) {
      const answer = await server.ask(method, '/metadata/nothing')
      assert.deepEqual([answer.status, answer.json], [200, []])
    }
    const CODES: readonly [
      method: string,
      path: string,
      body: JsonObject | undefined,
      status: number,
      code: string,
    ][] = [
      ['GET', '/metadata/nothing/1.0.0', undefined, 404, 'mongo-metadata:UnknownVersion'],
      ['GET', '/metadata/thing/9.9.9', undefined, 404, 'mongo-metadata:UnknownVersion'],
      ['DELETE', '/metadata/thing', undefined, 409, 'mongo-metadata:CannotDeleteEntity'],
      [
        'PUT',
        '/metadata/nothing',
        { name: 'nothing', datastore: MONGO },
        404,
        'mongo-metadata:MissingEntityInfo',
      ],
      [
        'PUT',
        '/metadata/thing/1.0.0',
        metadataDocument('thing', { ...FIELDS, more: { type: 'string' } }, { info: { datastore: MONGO } }),
        409,
        'mongo-metadata:DuplicateMetadata',
      ],
    ]
    for (const [method, path, body, status, code] of CODES) {
      const answer = await server.ask(method, path, body ? { body } : {})
      assert.deepEqual(
        [answer.status, answer.json.errorCode],
        [status, code],
        `${method} ${path} ${answer.text}`,
      )
    }
  })

  test('errors: codes of the store have the prefix of Lightblue, statuses stay ours', async () => {
    await using server = await open()
    const CODES: readonly [method: string, path: string, body: JsonObject, status: number, code: string][] = [
      ['POST', '/data/find/thing', {}, 400, 'mongo-crud:NullProjection'],
      ['POST', '/data/delete/thing', {}, 400, 'mongo-crud:NullQuery'],
      ['POST', '/data/find/nothing', { projection: EVERYTHING }, 404, 'mongo-metadata:UnknownVersion'],
      [
        'POST',
        '/data/find/thing',
        { projection: EVERYTHING, query: { field: 'secret', op: '=', rvalue: 's' } },
        403,
        'crud:NoAccess',
      ],
      ['PUT', '/data/insert/thing', { data: { _id: '9', code: 'a' } }, 200, 'mongo-crud:Duplicate'],
      [
        'POST',
        '/data/save/thing',
        { data: { code: 'zz' } },
        200,
        'mongo-crud:SaveError:InsertionAttemptWithNoUpsert',
      ],
      [
        'POST',
        '/data/save/thing',
        { data: { code: 'a', name: 'x' }, documentVersions: ['1:1'] },
        200,
        'mongo-crud:ConcurrentUpdate',
      ],
    ]
    for (const [method, path, body, status, code] of CODES) {
      const { json, ...answer } = await server.ask(method, path, { body })
      const [error] = json.errors ?? json.dataErrors[0].errors
      assert.deepEqual(
        [answer.status, error.errorCode, json.hostname],
        [status, code, hostname()],
        answer.text,
      )
    }
  })

  test('counts and echoes: update, delete and save answer as Lightblue does', async () => {
    await using server = await open()
    const query = { field: '_id', op: '=', rvalue: '1' }
    const updated = await server.ask('POST', '/data/update/thing', {
      body: { query, update: { $set: { name: 'Bea' } } },
    })
    const [document] = updated.json.processed
    assert.deepEqual([document.name, document.code, 'secret' in document], ['Bea', 'a', false])
    const chosen = await server.ask('POST', '/data/update/thing', {
      body: { query, update: { $set: { name: 'Cy' } }, projection: { field: 'name' } },
    })
    assert.deepEqual(chosen.json.processed, [{ name: 'Cy' }])
    const same = { data: [{ code: 'a', name: 'Cy', rows: DOCUMENT['rows']!, any: DOCUMENT['any']! }] }
    await server.ask('POST', '/data/save/thing', { body: same, roles: ['boss'] })
    const saved = await server.ask('POST', '/data/save/thing', { body: same, roles: ['boss'] })
    assert.deepEqual([saved.json.status, saved.json.modifiedCount], ['COMPLETE', 1])
    const deleted = await server.ask('POST', '/data/delete/thing', { body: { query } })
    assert.deepEqual([deleted.json.modifiedCount, deleted.json.matchCount], [1, 0])
  })

  test('sizes of arrays are not shown inside elements, wherever documents are shown', async () => {
    await using server = await open()
    const body = { projection: EVERYTHING }
    const answers = [
      (await server.ask('POST', '/data/find/thing', { body })).json.processed[0],
      (await server.ask('GET', '/data/find/thing')).json.processed[0],
      JSON.parse((await server.ask('POST', '/data/find/thing?stream=true', { body })).text.split('\n')[1]!)
        .processed,
      (
        await server.ask('POST', '/data/bulk', {
          body: { requests: [{ seq: 0, op: 'find', request: { entity: 'thing', ...body } }] },
        })
      ).json.responses[0].response.processed[0],
    ]
    for (const { rows, any, ...rest } of answers) {
      assert.deepEqual(rows, [{ n: 1, tags: ['x', 'y'] }])
      assert.equal(rest['rows#'], 1)
      assert.equal(any[0]['n#'], 5)
    }
  })

  test('requests: unknown keys are ignored with a warning, in bulks too', async () => {
    await using server = await open()
    const body = { projection: EVERYTHING, backendHint: 1, taskHandle: null }
    const found = await server.ask('POST', '/data/find/thing', { body })
    assert.deepEqual([found.status, found.json.matchCount], [200, 1], found.text)
    assert.match(server.warnings().at(-1)!, /backendHint.*taskHandle/)
    const requests = [{ seq: 0, op: 'find', request: { entity: 'thing', ...body } }]
    const bulk = await server.ask('POST', '/data/bulk', { body: { requests, session: 'x' } })
    assert.equal(bulk.json.responses[0].response.matchCount, 1, bulk.text)
    assert.match(server.warnings().join(), /session/)
  })

  test('requests: unknown keys beside the request of a bulk entry, and of a lock, are ignored with a warning', async () => {
    await using server = await open()
    const find = { entity: 'thing', projection: EVERYTHING }
    const requests = [
      { seq: 0, op: 'find', request: find, type: 'request' },
      { seq: 1, op: 'find', request: find },
    ]
    const bulk = await server.ask('POST', '/data/bulk', { body: { requests } })
    const counts = bulk.json.responses.map(
      ({ response }: JsonObject) => (response as JsonObject)['matchCount'],
    )
    assert.deepEqual(counts, [1, 1], bulk.text)
    assert.match(server.warnings().at(-1)!, /type/)
    const body = { operation: 'acquire', domain: 'd', callerId: 'c', resourceId: 'r', force: true }
    for (const headers of [{}, { 'Idempotency-Key': 'a' }]) {
      const lock = await server.ask('POST', '/data/lock', { body, headers })
      assert.deepEqual([lock.status, lock.json], [200, { result: true }], lock.text)
      assert.match(server.warnings().at(-1)!, /force/)
    }
  })

  test('requests: members that are null and that no field has are left out, in documents of insert and save', async () => {
    await using server = await open()
    const data = {
      _id: '2',
      code: 'b',
      nope: null,
      rows: [{ n: 1, nope: null, tags: [null] }, null],
      any: { x: null },
    }
    for (const [method, operation, saved] of [
      ['PUT', 'insert', data],
      ['POST', 'save', [{ ...data, name: null, more: null }]],
    ] as const) {
      const body = { data: saved, projection: EVERYTHING }
      const { json, text } = await server.ask(method, `/data/${operation}/thing`, { body })
      assert.equal(json.status, 'COMPLETE', text)
      const [{ objectType, 'rows#': count, ...stored }] = json.processed
      assert.deepEqual([objectType, count], ['thing', 2])
      assert.deepEqual(stored, {
        _id: '2',
        code: 'b',
        rows: [{ n: 1, tags: [null] }, null],
        any: { x: null },
      })
    }
    const entry = { entity: 'thing', data: { _id: '3', code: 'c', nope: null } }
    const bulk = { requests: [{ seq: 1, op: 'insert', request: entry }] }
    const { text } = await server.ask('POST', '/data/bulk', { body: bulk })
    assert.match(text, /"status":"COMPLETE"/)
    const refused = await server.ask('PUT', '/data/insert/thing', { body: { data: { code: 'd', nope: 1 } } })
    assert.equal(refused.json.dataErrors[0].errors[0].errorCode, 'metadata:InvalidFieldReference')
  })

  test('routes: health, diagnostics, versions and reindex answer in the form of Lightblue', async () => {
    await using server = await open()
    const health = { healthy: true, message: null }
    assert.deepEqual((await server.ask('GET', '/rest/data/health')).json, { readHealthCheck: health })
    assert.deepEqual((await server.ask('GET', '/rest/data/diagnostics')).json, {
      MongoCRUDController: health,
    })
    for (const path of ['/data/version', '/metadata/version', '/metadata/health'])
      assert.match((await server.ask('GET', path)).text, /^\d+\.\d+\.\d+/)
    for (const path of ['/metadata/thing/reindex', '/metadata/thing/1.0.0/reindex?Q=name:x']) {
      const answer = await server.ask('POST', path)
      assert.deepEqual([answer.status, answer.text], [200, 'Starting reindex of thing'])
    }
    assert.equal((await server.ask('POST', '/metadata/nothing/reindex')).status, 404)
    await using plain = await startTestServer()
    assert.equal((await plain.ask('GET', '/data/diagnostics')).status, 405)
  })

  test('threads: a large request is answered in the same form', async () => {
    await using server = await startTestServer({ compatibility: 'lightblue', inlineBodyBytes: 10 })
    await server.define('thing', FIELDS, { info: { datastore: MONGO } })
    await server.ask('PUT', '/data/insert/thing', { body: { data: DOCUMENT } })
    const { json, text } = await server.ask('POST', '/data/find/thing', {
      body: { projection: EVERYTHING, extra: 1 },
    })
    assert.deepEqual(
      [json.hostname, json.matchCount, json.processed?.[0].rows],
      [hostname(), 1, [{ n: 1, tags: ['x', 'y'] }]],
      text,
    )
  })
})
