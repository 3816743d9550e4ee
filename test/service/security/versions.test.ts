/**
 * Row 5: each version of an entity is judged by its own lists, however the version is named. That a version with weaker
 * lists shows what a stricter one hides is how versions are defined, and the known exception.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { type Answer, type TestServer, startTestServer } from '../../support/server.ts'
import { ANYONE, EVERYTHING, metadataDocument } from '../../support/service.ts'
import { put } from './office.ts'
import { onEveryStore } from '../../support/store-kind.ts'

onEveryStore(() => {
  let server: TestServer
  before(async () => {
    server = await startTestServer()
    await define('1.0.0', { find: ['boss'] })
    await define('2.0.0', {})
    await put(server, 'record', { _id: '1', open: 'o', secret: 'SECRET' })
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    assert.deepEqual(server.faults(), [])
  })

  async function define(value: string, access: JsonObject): Promise<void> {
    const fields = { _id: { type: 'string' }, open: { type: 'string' }, secret: { type: 'string', access } }
    const schema = { version: { value, changelog: 'made' }, access: ANYONE }
    const body = metadataDocument('record', fields, { schema })
    const answer = await server.ask('PUT', `/metadata/record/${value}`, { body })
    assert.equal(answer.status, 200, answer.text)
  }

  type Way = (version: string, body: JsonObject) => Promise<Answer>

  const inBulk: Way = (entityVersion, body) => {
    const request = { entity: 'record', entityVersion, ...body }
    return server.ask('POST', '/data/bulk', { body: { requests: [{ seq: 1, op: 'find', request }] } })
  }
  const WAYS: readonly [rule: string, way: Way][] = [
    [
      'in the path',
      (version, body) => server.ask('POST', `/data/find/record/${encodeURIComponent(version)}`, { body }),
    ],
    [
      'in the body',
      (version, body) => server.ask('POST', '/data/find/record', { body: { ...body, version } }),
    ],
    [
      'as entityVersion',
      (entityVersion, body) => server.ask('POST', '/data/find/record', { body: { ...body, entityVersion } }),
    ],
    [
      'in a stream',
      (version, body) =>
        server.ask('POST', `/data/find/record/${encodeURIComponent(version)}?stream=true`, { body }),
    ],
    ['in a bulk', inBulk],
  ]
  for (const [rule, way] of WAYS) {
    test(`versions: the lists of the version that is named decide: ${rule}`, async () => {
      const query = { field: 'secret', op: '=', rvalue: 'SECRET' }
      assert.doesNotMatch((await way('1.0.0', { projection: EVERYTHING })).text, /SECRET/)
      assert.match((await way('1.0.0', { projection: EVERYTHING, query })).text, /crud:NoAccess/)
      assert.match((await way('2.0.0', { projection: EVERYTHING })).text, /SECRET/)
      for (const version of ['1', '1.0', '2.0.0 ', '02.0.0', '2.0.0-x', '9.9.9']) {
        const { text } = await way(version, { projection: EVERYTHING })
        assert.doesNotMatch(text, /SECRET/, version)
        assert.match(text, /crud:UnknownEntity|crud:InvalidRequest|crud:UnknownRoute/, version)
      }
    })
  }

  test('versions: a body that names another version than the path is refused', async () => {
    for (const [path, version] of [
      ['1.0.0', '2.0.0'],
      ['2.0.0', '1.0.0'],
    ]) {
      const body = { projection: EVERYTHING, version: version! }
      const answer = await server.ask('POST', `/data/find/record/${path}`, { body })
      assert.equal(answer.json.errors[0].errorCode, 'rest-crud:NoVersionMatch')
    }
  })

  test('versions: without a version the lists of the default one decide, also after it was switched', async () => {
    const seen = async () => (await server.ask('GET', '/data/find/record')).text.includes('SECRET')
    const switchTo = async (version: string) => {
      assert.equal((await server.ask('POST', `/metadata/record/${version}/default`)).status, 200)
    }
    assert.equal(await seen(), false)
    await switchTo('2.0.0')
    assert.equal(await seen(), true)
    await switchTo('1.0.0')
    assert.equal(await seen(), false)
  })

  test('versions: a version that is disabled shows nothing any more', async () => {
    const disabled = await server.ask('PUT', '/metadata/record/2.0.0/disabled')
    assert.equal(disabled.status, 200, disabled.text)
    for (const [, way] of WAYS) {
      const { text } = await way('2.0.0', { projection: EVERYTHING })
      assert.match(text, /crud:DisabledMetadataVersion/)
      assert.doesNotMatch(text, /SECRET/)
    }
  })
})
