/** Dry runs of metadata changes: the answer of the change with a report, and a store in which nothing has changed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { dumpOf } from '../../support/dump.ts'
import { metadataDocument } from '../../support/service.ts'
import { type TestServer, startTestServer } from '../../support/server.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const FIELDS = { name: { type: 'string' }, city: { type: 'string' } }
const ACCESS = { find: ['anyone'], insert: ['anyone'], update: ['anyone'], delete: ['anyone'] }

async function open(): Promise<TestServer> {
  const server = await startTestServer()
  const index = { name: 'city', fields: [{ field: 'city', dir: '$asc' }] }
  await server.define('person', FIELDS, { info: { indexes: [index] } })
  const data = [{ _id: '1', name: 'Ann', city: 'Bern' }, { _id: '2', name: 'Bo' }, { _id: '3' }]
  await server.ask('PUT', '/data/insert/person', { body: { data } })
  return server
}

function next(info: JsonObject = {}): JsonObject {
  const fields = {
    name: { type: 'string', constraints: { required: true, minLength: 3 } },
    city: { type: 'string' },
  }
  const schema = {
    version: { value: '2.0.0', changelog: 'stricter' },
    access: { ...ACCESS, find: ['hr'] },
  }
  const index = { name: 'name', fields: [{ field: 'name', dir: '$asc' }] }
  return metadataDocument('person', fields, { schema, info: { indexes: [index], ...info } })
}

onEveryStore(() => {
  test('dry run of metadata: every change answers as if it were made, and changes no byte of the store', async () => {
    await using server = await open()
    const changes: readonly (readonly [string, string, JsonObject?])[] = [
      ['PUT', '/metadata/person/2.0.0', next()],
      ['PUT', '/metadata/person', { ...(next()['entityInfo'] as JsonObject) }],
      ['PUT', '/metadata/other/1.0.0', metadataDocument('other', FIELDS)],
      ['PUT', '/metadata/person/1.0.0/deprecated'],
      ['POST', '/metadata/person/1.0.0/default'],
      ['DELETE', '/metadata/person/default'],
    ]
    for (const [method, path, body] of changes) {
      const before = await dumpOf(server.location)
      const sent = body === undefined ? {} : { body }
      const dry = await server.ask(method, `${path}?dryRun=true`, sent)
      assert.equal(dry.status, 200, dry.text)
      assert.equal(await dumpOf(server.location), before, path)
      const { dryRun, ...answer } = dry.json as JsonObject
      assert.ok(dryRun, path)
      const real = await server.ask(method, path, sent)
      assert.equal(real.status, 200, real.text)
      // the log of a status has the time of the change
      if (!path.includes('deprecated')) assert.deepEqual(answer, real.json)
    }
    assert.deepEqual(server.faults(), [])
  })

  test('dry run of metadata: the report says what would happen to documents, indexes and access', async () => {
    await using server = await open()
    const { json } = await server.ask('PUT', '/metadata/person/2.0.0?dryRun=true', { body: next() })
    const { changes, entities } = (json as { dryRun: { changes: boolean; entities: JsonObject[] } }).dryRun
    assert.equal(changes, true)
    const [{ indexes, documents, access, dependents }] = entities as [JsonObject]
    assert.deepEqual(indexes, {
      build: [{ unique: false, fields: ['name'] }],
      drop: [{ unique: false, fields: ['city'] }],
    })
    assert.deepEqual(documents, {
      checked: 3,
      complete: true,
      problems: [
        { version: '2.0.0', errorCode: 'crud:TooShort', field: 'name', count: 1, ids: ['2'] },
        { version: '2.0.0', errorCode: 'crud:Required', field: 'name', count: 1, ids: ['3'] },
      ],
    })
    assert.deepEqual(dependents, [])
    const lost = (access as JsonObject[]).filter(
      ({ operation, field }) => operation === 'find' && field === '',
    )
    assert.ok(lost.length > 0, JSON.stringify(access))
    const same = await server.ask('PUT', '/metadata/person/1.0.0/active?dryRun=maybe')
    assert.equal(same.status, 400)
    const broken = await server.ask('PUT', '/metadata/person/2.0.0?dryRun=true', { body: { schema: {} } })
    assert.ok(broken.status >= 400)
  })

  test('dry run of metadata: a unique index whose values repeat is refused as in the change', async () => {
    await using server = await open()
    const data = [
      { _id: '4', name: 'ann' },
      { _id: '5', name: 'Bo' },
    ]
    await server.ask('PUT', '/data/insert/person', { body: { data } })
    const unique = (caseInsensitive: boolean, fields: readonly string[]): JsonObject => ({
      name: 'person',
      defaultVersion: '1.0.0',
      indexes: [
        { name: 'u', unique: true, fields: fields.map((field) => ({ field, dir: '$asc', caseInsensitive })) },
      ],
    })
    for (const [body, status] of [
      [unique(false, ['name']), 422],
      [unique(true, ['city', 'name']), 422],
      [unique(false, ['city']), 200],
    ] as const) {
      const dry = await server.ask('PUT', '/metadata/person?dryRun=true', { body })
      assert.equal(dry.status, status, dry.text)
      const real = await server.ask('PUT', '/metadata/person', { body })
      assert.equal(real.status, status, real.text)
      if (status !== 200) assert.deepEqual(dry.json, real.json)
    }
  })

  test('dry run of metadata: a role that a version does not name has the access of anybody else', async () => {
    await using server = await open()
    const schema = {
      version: { value: '2.0.0', changelog: 'a role' },
      access: { ...ACCESS, delete: ['boss'] },
    }
    const body = metadataDocument('person', FIELDS, { schema })
    const { json } = await server.ask('PUT', '/metadata/person/2.0.0?dryRun=true', { body })
    const [{ access }] = (json as { dryRun: { entities: [{ access: JsonObject[] }] } }).dryRun.entities
    assert.deepEqual(access, [
      {
        version: '2.0.0',
        comparedWith: '1.0.0',
        field: '',
        operation: 'delete',
        role: 'anyone else',
        before: 'yes',
        after: 'no',
      },
    ])
  })

  test('dry run of metadata: the report names saved searches that would fail', async () => {
    await using server = await open()
    const search = (name: string, query: JsonObject, more: JsonObject = {}): JsonObject => ({
      name,
      entity: 'person',
      query,
      ...more,
    })
    const data = [
      search('byName', { field: 'name', op: '=', rvalue: '${name}' }, { parameters: [{ name: 'name' }] }),
      search('byCity', { field: 'city', op: '=', rvalue: '${city}' }, { parameters: [{ name: 'city' }] }),
      search('sorted', { field: 'name', op: '!=', rvalue: null }, { sort: { city: '$asc' } }),
      search('first', { field: 'city', op: '=', rvalue: 'Bern' }, { versions: ['1'] }),
      search('byPattern', { field: 'city', regex: '${city}' }, { parameters: [{ name: 'city' }] }),
      search('after', { field: 'city', op: '>', rvalue: '${city}' }, { parameters: [{ name: 'city' }] }),
      search('wrong', { field: 'nowhere', op: '=', rvalue: 1 }),
    ]
    const saved = await server.ask('PUT', '/data/insert/savedSearch', {
      body: { data },
      roles: ['admin'],
    })
    assert.equal(saved.status, 200, saved.text)
    const schema = { version: { value: '2.0.0', changelog: 'no city' } }
    const info = { defaultVersion: '2.0.0' }
    const body = metadataDocument('person', { name: { type: 'string' } }, { schema, info })
    const failing = async (
      method: string,
      path: string,
      sent: JsonObject | undefined,
    ): Promise<readonly JsonObject[]> => {
      const { json, text } = await server.ask(method, `${path}?dryRun=true`, sent ? { body: sent } : {})
      const report = (json as { dryRun?: { entities: { searches: { broken: JsonObject[] } }[] } }).dryRun
      assert.ok(report, text)
      return report.entities.flatMap(({ searches }) => searches.broken)
    }
    const broken = await failing('PUT', '/metadata/person/2.0.0', body)
    assert.deepEqual(
      broken.map(({ name, version }) => [name, version]),
      [
        ['after', null],
        ['byCity', null],
        ['byPattern', null],
        ['sorted', null],
      ],
    )
    for (const { msg } of broken) assert.match(msg as string, /city/)
    const real = await server.ask('PUT', '/metadata/person/2.0.0', { body })
    assert.equal(real.status, 200, real.text)
    // both fail today, and in the same way
    assert.deepEqual(await failing('PUT', '/metadata/person/2.0.0', body), [])
    const disabled = await failing('PUT', '/metadata/person/1.0.0/disabled', undefined)
    assert.deepEqual(
      disabled.map(({ name }) => name),
      ['first'],
    )
    const unused = await server.ask('DELETE', '/metadata/savedSearch/default')
    assert.equal(unused.status, 200, unused.text)
    assert.deepEqual(await failing('PUT', '/metadata/person/1.0.0/disabled', undefined), [])
  })
})
