/** The published interface: addresses, requests, answers, errors, access lists, open mode. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { EVERYTHING, country, dataError, errorObject, metadataError, seed, sound, store } from './fixture.ts'
import { onEveryStore } from '../../support/store-kind.ts'

onEveryStore(() => {
  const server = seed((server) =>
    store(server, 'country', [{ _id: '1', ...country('CH', 'Switzerland', 9) }]),
  )
  const { ask, define } = server

  const BESIDE: readonly [path: string, type: RegExp, text: RegExp][] = [
    ['/health', /json/, /"up"/],
    ['/ready', /json/, /"ready"/],
    ['/metrics', /text\/plain/, /^# (HELP|TYPE) /],
    ['/version', /json/, /"version":"\d+\.\d+\.\d+/],
    ['/openapi.json', /json/, /"openapi":"3\.1/],
    ['/docs', /text\/html/, /<html/i],
  ]
  for (const [path, type, text] of BESIDE) {
    test(`addresses: GET ${path} lives beside the interface`, async () => {
      const answer = sound(await ask('GET', path))
      assert.match(answer.headers['content-type']!, type)
      assert.match(answer.text, text)
    })
  }

  test('addresses: a trailing slash is the same address', async () => {
    sound(await ask('GET', '/data/find/country/'))
    sound(await ask('GET', '/metadata/'))
  })

  test('addresses: literal words win over entity names', async () => {
    assert.ok(Array.isArray(sound(await ask('GET', '/metadata/roles')).json))
    assert.ok(Array.isArray(sound(await ask('GET', '/metadata/dependencies')).json))
    metadataError(await ask('PUT', '/metadata/roles', { body: {} }), 405, 'crud:MethodNotAllowed')
  })

  test('addresses: an unknown one is 404 in the form of its side', async () => {
    dataError(await ask('GET', '/data/nothing/country/1.0.0/x/y'), 404, 'crud:UnknownRoute')
    metadataError(await ask('GET', '/metadata/a/b/c/d/e'), 404, 'crud:UnknownRoute')
    metadataError(await ask('GET', '/nothing'), 404, 'crud:UnknownRoute')
  })

  test('addresses: a wrong method is 405 and Allow says which exist', async () => {
    const answer = await ask('DELETE', '/data/find/country')
    dataError(answer, 405, 'crud:MethodNotAllowed')
    assert.equal(answer.headers.allow, 'GET, HEAD, POST')
  })

  const ENVELOPES: readonly [rule: string, path: string, body: JsonObject, version: string][] = [
    ['objectType and version are accepted', 'country', { objectType: 'country', version: '1.1.0' }, '1.1.0'],
    [
      'entity and entityVersion are accepted',
      'country',
      { entity: 'country', entityVersion: '1.1.0' },
      '1.1.0',
    ],
    [
      'both spellings are accepted when they agree',
      'country',
      { entity: 'country', objectType: 'country', version: '1.1.0', entityVersion: '1.1.0' },
      '1.1.0',
    ],
    ['a body version on an unversioned path is used', 'country', { version: '1.1.0' }, '1.1.0'],
    ['the path alone is enough', 'country/1.1.0', {}, '1.1.0'],
    ['neither means the default version', 'country', {}, '1.0.0'],
    [
      'a key of another operation is tolerated',
      'country',
      { upsert: true, from: 0, maxResults: 5, data: null, update: null, documentVersions: null },
      '1.0.0',
    ],
    ['client and clientId are tolerated', 'country', { client: { any: 1 }, clientId: 'x' }, '1.0.0'],
    [
      'null is the same as absent',
      'country',
      { entity: null, version: null, execution: null, upsert: null },
      '1.0.0',
    ],
    [
      'execution knows atomic, maxTimeMs and count',
      'country',
      { execution: { atomic: true, maxTimeMs: 5_000, count: 'exact' } },
      '1.0.0',
    ],
  ]
  for (const [rule, path, body, version] of ENVELOPES) {
    test(`envelope: ${rule}`, async () => {
      const answer = sound(
        await ask('POST', `/data/find/${path}`, { body: { projection: EVERYTHING, ...body } }),
      )
      assert.equal(answer.json.entityVersion, version)
      assert.equal(answer.json.matchCount, 1)
    })
  }

  test('envelope: a name or version in the body that differs from the path is refused', async () => {
    const projection = EVERYTHING
    const name = await ask('POST', '/data/find/country', { body: { projection, objectType: 'staff' } })
    dataError(name, 400, 'rest-crud:NoEntityMatch')
    const version = await ask('POST', '/data/find/country/1.0.0', { body: { projection, version: '1.1.0' } })
    dataError(version, 400, 'rest-crud:NoVersionMatch')
  })

  test('envelope: a key that no operation knows is refused, naming the key', async () => {
    const answer = await ask('POST', '/data/find/country', { body: { projections: EVERYTHING } })
    assert.match(dataError(answer, 400, 'crud:InvalidRequest')['msg'] as string, /"projections"/)
  })

  test('envelope: numbers keep all their digits', async () => {
    await define('digits', {
      big: { type: 'biginteger' },
      exact: { type: 'bigdecimal' },
      whole: { type: 'integer' },
      loose: { type: 'any' },
    })
    const numbers = `"big":123456789012345678901234567890,"exact":1.10,"whole":9223372036854775807,"loose":[1.0,1e400,-0]`
    const body = `{"data":{"_id":"1",${numbers}},"projection":{"field":"*","recursive":true}}`
    for (const answer of [
      await ask('PUT', '/data/insert/digits', { body }),
      await ask('GET', '/data/find/digits'),
    ])
      for (const number of numbers.split(/,(?=")/))
        assert.ok(sound(answer).text.includes(number), answer.text)
  })

  test('response: X-Request-Id is on every response, and a sane one is echoed', async () => {
    for (const path of [
      '/data/find/country',
      '/data/find/nothing',
      '/nothing',
      '/health',
      '/metadata/none/roles',
    ]) {
      assert.match((await ask('GET', path)).headers['x-request-id'] as string, /^[\w.-]{8,}$/)
      const headers = { 'X-Request-Id': 'mine-1.2_3' }
      assert.equal((await ask('GET', path, { headers })).headers['x-request-id'], 'mine-1.2_3')
    }
    for (const bad of ['a b', 'x'.repeat(200), '"']) {
      const headers = { 'X-Request-Id': bad }
      assert.notEqual((await ask('GET', '/health', { headers })).headers['x-request-id'], bad)
    }
  })

  test('response: processed is [] when empty, on find, explain is one entry, and never on delete', async () => {
    const none = { query: { field: '_id', op: '=', rvalue: 'none' }, projection: EVERYTHING }
    const found = sound(await ask('POST', '/data/find/country', { body: none })).json
    assert.deepEqual([found.processed, found.resultMetadata], [[], []])
    assert.equal(sound(await ask('POST', '/data/explain/country', { body: none })).json.processed.length, 1)
    const update = { ...none, update: { $set: { name: 'x' } } }
    assert.deepEqual(sound(await ask('POST', '/data/update/country', { body: update })).json.processed, [])
    const deleted = sound(await ask('POST', '/data/delete/country', { body: none })).json
    assert.equal('processed' in deleted, false)
    for (const json of [found, deleted]) assert.equal('errors' in json || 'dataErrors' in json, false)
  })

  test('errors: context is the path of work', async () => {
    const answer = await ask('PUT', '/data/insert/country', { body: { data: { iso2Code: 'long' } } })
    const error = errorObject(sound(answer).json.dataErrors[0].errors[0], 'crud:TooLong')
    assert.equal(error['context'], 'insert(country:1.0.0)/iso2Code')
  })

  test('errors: metadata routes answer the bare error object', async () => {
    metadataError(await ask('GET', '/metadata/none/roles'), 404, 'metadata:MissingEntityInfo')
    metadataError(await ask('PUT', '/metadata/country', { body: '{' }), 400, 'crud:InvalidRequest')
  })

  const LISTS: readonly [
    rule: string,
    list: readonly string[] | undefined,
    roles: readonly string[],
    status: number,
  ][] = [
    ['a missing entity list admits nobody', undefined, ['a'], 403],
    ['an empty entity list admits nobody', [], ['a'], 403],
    ['anyone admits callers without roles', ['anyone'], [], 200],
    ['a role in common admits', ['a', 'b'], ['b'], 200],
    ['no role in common does not', ['a'], ['b'], 403],
    ['noone beats anyone', ['noone', 'anyone'], ['a'], 403],
    ['noone beats a role in common', ['a', 'noone'], ['a'], 403],
  ]
  for (const [i, [rule, find, roles, status]] of LISTS.entries()) {
    test(`access: ${rule}`, async () => {
      await define(`list${i}`, { a: { type: 'string' } }, { schema: { access: find ? { find } : {} } })
      for (const path of [`/data/find/list${i}`, `/data/explain/list${i}`])
        assert.equal((await ask('GET', path, { roles })).status, status)
    })
  }

  test('access: a field is readable when every non-empty list on the path down to it admits the caller', async () => {
    await define('nested', {
      box: {
        type: 'object',
        access: { find: ['x'] },
        fields: {
          inherits: { type: 'string', access: { find: [] } },
          narrow: { type: 'string', access: { find: ['y'] } },
          wide: { type: 'string', access: { find: ['anyone'] } },
        },
      },
    })
    await store(server, 'nested', [{ box: { inherits: '1', narrow: '2', wide: '3' } }])
    const seen = async (roles: readonly string[]) =>
      sound(await ask('GET', '/data/find/nested?P=box:1r', { roles })).json.processed[0]
    assert.deepEqual(await seen([]), {})
    assert.deepEqual(await seen(['y']), {})
    assert.deepEqual(await seen(['x']), { box: { inherits: '1', wide: '3' } })
    assert.deepEqual(await seen(['x', 'y']), { box: { inherits: '1', narrow: '2', wide: '3' } })
  })

  test('access: unknown and unreadable look alike in projections', async () => {
    await store(server, 'staff', [{ _id: 'z', name: 'Zoe', salary: 3 }])
    const read = async (field: string) =>
      (await ask('POST', '/data/find/staff', { body: { projection: { field } }, roles: ['guest'] })).text
    assert.equal(await read('salary'), await read('nothing'))
  })

  test('open mode: roles come from Smalt-Roles, the name from Smalt-Principal', async () => {
    const headers = { 'Smalt-Roles': ' x ,hr , y', 'Smalt-Principal': 'ann' }
    sound(await ask('GET', '/data/find/staff', { headers }))
    sound(await ask('PUT', '/metadata/staff/1.0.0/deprecated', { headers }))
    const { json } = sound(await ask('GET', '/metadata/staff/history'))
    assert.ok(json.some(({ principal, action }: JsonObject) => principal === 'ann' && action === 'setStatus'))
    sound(await ask('PUT', '/metadata/staff/1.0.0/active'))
  })

  for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1', '127.1.2.3:80', '[::1]', '[::1]:9']) {
    test(`open mode: answers requests to the host ${host}`, async () => {
      sound(await ask('GET', '/data/find/country', { headers: { Host: host } }))
    })
  }

  for (const host of [
    'example.com',
    'localhost.example.com',
    '192.168.0.1',
    '127.0.0.1.nip.io',
    '0.0.0.0',
    '[::]',
  ]) {
    test(`open mode: refuses requests to the host ${host}`, async () => {
      const headers = { Host: host }
      dataError(await ask('GET', '/data/find/country', { headers }), 403, 'crud:ForeignOrigin')
      metadataError(await ask('GET', '/metadata', { headers }), 403, 'crud:ForeignOrigin')
    })
  }

  for (const origin of [
    'http://example.com',
    'null',
    'https://localhost.example.com',
    'file://',
    'http://127.0.0.1.nip.io',
  ]) {
    test(`open mode: refuses the foreign origin ${origin}`, async () => {
      const headers = { Origin: origin }
      dataError(await ask('POST', '/data/find/country', { headers, body: {} }), 403, 'crud:ForeignOrigin')
      metadataError(await ask('GET', '/metadata', { headers }), 403, 'crud:ForeignOrigin')
    })
  }

  test('open mode: a page of this machine is no foreign origin', async () => {
    sound(await ask('GET', '/data/find/country', { headers: { Origin: 'http://localhost:3000' } }))
  })
})
