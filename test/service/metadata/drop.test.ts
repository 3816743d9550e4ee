/** Removing an entity: its documents are deleted, kept, or in the way; never left behind unasked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { openService } from '../../../src/service/open.ts'
import { ADMIN, EVERYTHING, failLoudly, metadataDocument } from '../../support/service.ts'
import { dumpOf } from '../../support/dump.ts'
import { type TestServer, startTestServer } from '../../support/server.ts'
import { freshPlace, onEveryStore, storeKind } from '../../support/store-kind.ts'

const FIELDS = { s: { type: 'string' }, list: { type: 'array', items: { type: 'string' } } }
const INFO = {
  history: true,
  indexes: [
    { name: 's', unique: true, fields: [{ field: 's', dir: '$asc' }] },
    { name: 'list', fields: [{ field: 'list.*', dir: '$asc' }] },
  ],
}

async function fill(server: TestServer, entity = 'thing'): Promise<void> {
  await server.define(entity, FIELDS, { info: INFO })
  const data = [
    { _id: '1', s: 'a', list: ['x'] },
    { _id: '2', s: 'b' },
  ]
  const { status, text } = await server.ask('PUT', `/data/insert/${entity}`, { body: { data } })
  assert.equal(status, 200, text)
}

async function disable(server: TestServer, entity = 'thing'): Promise<void> {
  assert.equal((await server.ask('DELETE', `/metadata/${entity}/default`)).status, 200)
  assert.equal((await server.ask('PUT', `/metadata/${entity}/1.0.0/disabled`)).status, 200)
}

async function found(server: TestServer): Promise<number> {
  const { json } = await server.ask('POST', '/data/find/thing', { body: { projection: EVERYTHING } })
  return (json as { matchCount: number }).matchCount
}

onEveryStore(() => {
  test('remove: an entity with documents is refused, and the answer says what to do', async () => {
    await using server = await startTestServer()
    await fill(server)
    const active = await server.ask('DELETE', '/metadata/thing?documents=delete')
    assert.match(active.text, /is not disabled; PUT \/metadata\/thing\/1\.0\.0\/disabled disables it/)
    await disable(server)
    const before = await dumpOf(server.location)
    const { status, json } = await server.ask('DELETE', '/metadata/thing')
    assert.equal(status, 409)
    const { errorCode, msg } = json as { errorCode: string; msg: string }
    assert.equal(errorCode, 'metadata:CannotDeleteEntity')
    assert.match(msg, /documents=delete .* documents=keep/)
    const wrong = await server.ask('DELETE', '/metadata/thing?documents=yes')
    assert.equal(wrong.status, 400)
    assert.match(wrong.text, /must be delete or keep/)
    assert.equal(await dumpOf(server.location), before)
  })

  test('remove: documents=delete leaves nothing for a new entity of the name', async () => {
    await using server = await startTestServer()
    await fill(server, 'other')
    await fill(server)
    await disable(server)
    const { status, text } = await server.ask('DELETE', '/metadata/thing?documents=delete')
    assert.equal(status, 200, text)
    await fill(server)
    assert.equal(await found(server), 2)
    const history = await server.ask('GET', '/data/history/thing/1.0.0/1')
    assert.equal((history.json as { processed?: unknown[] }).processed?.length, 1, history.text)
    assert.deepEqual(server.faults(), [])
  })

  test('remove: documents=keep leaves them for a new entity of the name; without any, nothing need be said', async () => {
    await using server = await startTestServer()
    await fill(server)
    await disable(server)
    assert.equal((await server.ask('DELETE', '/metadata/thing?documents=keep')).status, 200)
    await server.define('thing', FIELDS, { info: INFO })
    assert.equal(await found(server), 2)
    await server.ask('POST', '/data/delete/thing', { body: { query: { $and: [] } } })
    await disable(server)
    assert.equal((await server.ask('DELETE', '/metadata/thing')).status, 200)
  })

  test('remove: documents that are kept keep the type of their _id', async () => {
    await using server = await startTestServer()
    await fill(server)
    await disable(server)
    assert.equal((await server.ask('DELETE', '/metadata/thing?documents=keep')).status, 200)
    const body = metadataDocument('thing', { ...FIELDS, _id: { type: 'integer' } })
    for (const [path, sent] of [
      ['/metadata/thing/1.0.0', body],
      ['/metadata', [body]],
    ] as const) {
      const { status, json } = await server.ask('PUT', path, { body: sent })
      assert.equal(status, 422)
      const { errorCode, msg } = json as { errorCode: string; msg: string }
      assert.equal(errorCode, 'metadata:FieldWrongType')
      assert.match(
        msg,
        /"_id" is of type integer, but the collection has documents whose "_id" is of another/,
      )
    }
    // in another collection there are none, and what it has does not count for the first one
    const fields = { ...FIELDS, _id: { type: 'integer' } }
    const away = { datastore: { backend: storeKind(), collection: 'away' } }
    const moved = metadataDocument('thing', fields, { info: away })
    assert.equal((await server.ask('PUT', '/metadata/thing/1.0.0', { body: moved })).status, 200)
    await server.ask('PUT', '/data/insert/thing', { body: { data: { _id: 1 } } })
    const back = await server.ask('PUT', '/metadata/thing', { body: body['entityInfo']! })
    assert.deepEqual([back.status, back.json.errorCode], [422, 'metadata:FieldWrongType'])
    await disable(server)
    assert.equal((await server.ask('DELETE', '/metadata/thing?documents=keep')).status, 200)
    await server.define('thing', FIELDS)
    assert.equal(await found(server), 2)
    await disable(server)
    assert.equal((await server.ask('DELETE', '/metadata/thing?documents=delete')).status, 200)
    assert.equal((await server.ask('PUT', '/metadata/thing/1.0.0', { body })).status, 200)
  })

  test('remove: documents in another datasource are deleted there', async () => {
    await using opened = new AsyncDisposableStack()
    const [first, second] = [opened.use(await freshPlace()), opened.use(await freshPlace())]
    const datasources = [
      { name: 'default', location: first.location },
      { name: 'far', location: second.location },
    ]
    const service = opened.use(
      await openService({ datasources, limits: DEFAULT_LIMITS, onInternalError: failLoudly }),
    )
    const target = { entity: 'thing', version: '1.0.0' }
    const info = { datastore: { backend: storeKind(), datasource: 'far' } }
    const document = metadataDocument('thing', FIELDS, { info })
    await service.metadata.create(ADMIN, target, document)
    await service.data.insert(ADMIN, target, { data: { _id: '1' } })
    await service.metadata.clearDefault(ADMIN, 'thing')
    await service.metadata.setStatus(ADMIN, target, { status: 'disabled' })
    await assert.rejects(service.metadata.remove(ADMIN, 'thing'), /has documents/)
    await service.metadata.remove(ADMIN, 'thing', { documents: 'delete' })
    await service.metadata.create(ADMIN, target, document)
    const response = await service.data.find(ADMIN, target, { projection: EVERYTHING })
    assert.equal(response.matchCount, 0)
  })
})
