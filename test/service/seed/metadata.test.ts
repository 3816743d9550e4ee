/** The published interface: metadata, with roles, dependencies and the update of entity info. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { ANYONE, metadataDocument } from '../../support/service.ts'
import { onEveryStore, storeKind } from '../../support/store-kind.ts'
import { countryInfo, country, dataError, metadataError, seed, sound, store } from './fixture.ts'

const refersTo = (...entities: readonly string[]): JsonObject =>
  Object.fromEntries(
    entities.map((entity) => [
      `to_${entity}`,
      { type: 'reference', entity, query: { field: '_id', op: '=', rfield: '$parent.key' } },
    ]),
  )

onEveryStore(() => {
  const { ask, define } = seed(async (server) => {
    const key = { key: { type: 'string' } }
    await server.define('baz', key)
    await server.define('foo', { ...key, ...refersTo() })
    await server.define('bar', { ...key, ...refersTo('baz', 'foo') })
    const schema = { version: { value: '2.0.0', changelog: 'refers' } }
    const next = metadataDocument(
      'foo',
      { ...key, ...refersTo('bar') },
      { info: { defaultVersion: '2.0.0' }, schema },
    )
    sound(await server.ask('PUT', '/metadata/foo/2.0.0', { body: next }))
  })

  const both = (path: string): readonly string[] => [path, `/rest${path}`]

  const STAFF_ROLES = [
    { role: 'anyone', find: ['staff.tags#', 'staff.objectType'] },
    {
      role: 'boss',
      insert: ['staff', 'staff.salary'],
      find: ['staff', 'staff.salary'],
      update: ['staff', 'staff.salary'],
      delete: ['staff'],
    },
    { role: 'guest', find: ['staff'] },
    { role: 'hr', insert: ['staff'], find: ['staff'], update: ['staff'] },
    { role: 'noone', update: ['staff.objectType'] },
  ]

  for (const path of ['/metadata/staff/1.0.0/roles', '/metadata/staff/roles'].flatMap(both)) {
    test(`roles: ${path} lists roles and the entities or fields they give access to, sorted by role`, async () => {
      assert.deepEqual(sound(await ask('GET', path)).json, STAFF_ROLES)
    })
  }

  for (const path of both('/metadata/roles')) {
    test(`roles: ${path} covers all entities at their default versions, with an error for one without`, async () => {
      const { json } = sound(await ask('GET', path))
      const records = json.filter((each: JsonObject) => 'role' in each)
      const names = records.map(({ role }: JsonObject) => role)
      assert.deepEqual(names, [...names].sort())
      const boss = records.find(({ role }: JsonObject) => role === 'boss')
      assert.deepEqual(boss, STAFF_ROLES[1])
      const anyone = records.find(({ role }: JsonObject) => role === 'anyone')
      assert.ok(anyone.insert.includes('country') && anyone.delete.includes('foo'))
      const last = json.at(-1)
      assert.deepEqual([last.objectType, last.errorCode], ['error', 'ERR_NO_METADATA'])
      assert.match(last.msg, /"draft"/)
      assert.equal(json.length, records.length + 1)
    })
  }

  const MISSING: readonly [rule: string, path: string, code: string][] = [
    ['roles: an unknown entity', '/metadata/nothing/roles', 'metadata:MissingEntityInfo'],
    [
      'roles: an unknown entity with a version',
      '/metadata/nothing/1.0.0/roles',
      'metadata:MissingEntityInfo',
    ],
    ['roles: an unknown version', '/metadata/staff/9.9.9/roles', 'metadata:MissingSchema'],
    ['roles: an entity without default version', '/metadata/draft/roles', 'ERR_NO_METADATA'],
    ['dependencies: an unknown entity', '/metadata/nothing/dependencies', 'metadata:MissingEntityInfo'],
    [
      'dependencies: an unknown entity with a version',
      '/metadata/nothing/1.0.0/dependencies',
      'metadata:MissingEntityInfo',
    ],
    ['dependencies: an unknown version', '/metadata/staff/9.9.9/dependencies', 'metadata:MissingSchema'],
    ['metadata: an unknown entity', '/metadata/nothing/1.0.0', 'metadata:MissingEntityInfo'],
    ['metadata: an unknown version', '/metadata/staff/9.9.9', 'metadata:MissingSchema'],
    ['metadata: the default of an entity without one', '/metadata/draft/default', 'ERR_NO_METADATA'],
  ]
  for (const [rule, path, code] of MISSING) {
    test(`${rule} is ${code}`, async () => {
      for (const address of both(path)) metadataError(await ask('GET', address), 404, code)
    })
  }

  test('roles: a version in the path serves an entity without default version', async () => {
    assert.deepEqual(sound(await ask('GET', '/metadata/draft/1.0.0/roles')).json, [
      { role: 'anyone', insert: ['draft'], find: ['draft', 'draft.objectType'] },
      { role: 'noone', update: ['draft.objectType'] },
    ])
  })

  const FOO = {
    name: 'foo',
    dependencies: [{ name: 'bar', dependencies: [{ name: 'baz' }, { name: 'foo' }] }],
  }
  const GRAPHS: readonly [rule: string, path: string, graph: readonly JsonObject[]][] = [
    [
      'is an array of nodes, where an entity can appear again beneath its own descendants',
      '/metadata/foo/dependencies',
      [FOO],
    ],
    ['uses the version of the path', '/metadata/foo/1.0.0/dependencies', [{ name: 'foo' }]],
    ['of a version in full', '/metadata/foo/2.0.0/dependencies', [FOO]],
    ['dependencies are omitted on leaves', '/metadata/baz/dependencies', [{ name: 'baz' }]],
    [
      'leaves out an entity without default version and without a requested version',
      '/metadata/draft/dependencies',
      [],
    ],
    ['of such an entity at a version is told', '/metadata/draft/1.0.0/dependencies', [{ name: 'draft' }]],
  ]
  for (const [rule, path, graph] of GRAPHS) {
    test(`dependencies: ${rule}`, async () => {
      for (const address of both(path)) assert.deepEqual(sound(await ask('GET', address)).json, graph)
    })
  }

  test('dependencies: of all entities, without those that have no default version', async () => {
    for (const path of both('/metadata/dependencies')) {
      const { json } = sound(await ask('GET', path))
      const names = json.map(({ name }: JsonObject) => name)
      assert.ok(names.includes('foo') && names.includes('baz') && !names.includes('draft'))
      assert.deepEqual(
        json.find(({ name }: JsonObject) => name === 'foo'),
        FOO,
      )
    }
  })

  for (const path of both('/metadata/country')) {
    test(`update of entity info: PUT ${path} answers the metadata document of the default version`, async () => {
      const hooks = [
        {
          name: 'notificationHook',
          actions: ['insert', 'update'],
          configuration: {
            watchProjection: [{ field: 'name', include: true }],
            includeProjection: [],
            arrayOrderingSignificant: false,
          },
        },
      ]
      const { json } = sound(await ask('PUT', path, { body: { ...countryInfo(), hooks } }))
      assert.deepEqual(Object.keys(json), ['entityInfo', 'schema'])
      assert.equal(json.schema.version.value, '1.0.0')
      assert.equal(json.entityInfo.name, 'country')
      assert.equal(json.entityInfo.defaultVersion, '1.0.0')
      assert.deepEqual(json.entityInfo.datastore, countryInfo()['datastore'])
      assert.equal(json.entityInfo.indexes[0].name, 'iso2')
      assert.deepEqual(json.entityInfo.hooks[0].actions, ['insert', 'update'])
      assert.deepEqual(json, (await ask('GET', '/metadata/country/default')).json)
    })
  }

  test('update of entity info: replaces what was there', async () => {
    const { json } = sound(
      await ask('PUT', '/metadata/country', {
        body: { name: 'country', datastore: { backend: storeKind() } },
      }),
    )
    assert.deepEqual(Object.keys(json), ['entityInfo', 'warnings'])
    assert.deepEqual(
      (json.warnings as JsonObject[]).map(({ code }) => code),
      ['dropped-index', 'dropped-hook', 'dropped-default-version'],
    )
    assert.equal('defaultVersion' in json.entityInfo, false)
    metadataError(await ask('GET', '/metadata/country/roles'), 404, 'ERR_NO_METADATA')
    sound(await ask('PUT', '/metadata/country', { body: countryInfo() }))
    sound(await ask('GET', '/metadata/country/roles'))
  })

  test('update of entity info: a new default version is used by operations without a version', async () => {
    const { json } = sound(
      await ask('PUT', '/metadata/country', { body: { ...countryInfo(), defaultVersion: '1.1.0' } }),
    )
    assert.equal(json.schema.version.value, '1.1.0')
    assert.equal(sound(await ask('GET', '/data/find/country')).json.entityVersion, '1.1.0')
    sound(await ask('PUT', '/metadata/country', { body: countryInfo() }))
  })

  const REFUSED: readonly [rule: string, path: string, body: JsonObject, status: number, code: string][] = [
    [
      'without name is metadata:NoEntityName',
      '/metadata/country',
      { datastore: { backend: storeKind() } },
      400,
      'metadata:NoEntityName',
    ],
    [
      'a blank name is metadata:NoEntityName',
      '/metadata/country',
      { ...countryInfo(), name: ' ' },
      400,
      'metadata:NoEntityName',
    ],
    [
      'another name than the path is rest-metadata:NoNameMatch',
      '/metadata/country',
      { ...countryInfo(), name: 'staff' },
      400,
      'rest-metadata:NoNameMatch',
    ],
    [
      'an unknown entity is metadata:MissingEntityInfo',
      '/metadata/nothing',
      { ...countryInfo(), name: 'nothing' },
      404,
      'metadata:MissingEntityInfo',
    ],
    [
      'a backend that is not configured is metadata:UnknownBackend',
      '/metadata/country',
      { ...countryInfo(), datastore: { backend: 'mongo' } },
      422,
      'metadata:UnknownBackend',
    ],
    [
      'a datasource that is not configured is refused',
      '/metadata/country',
      { ...countryInfo(), datastore: { backend: storeKind(), datasource: 'other' } },
      422,
      'metadata:InvalidDatastore',
    ],
    [
      'a collection with a bad name is refused',
      '/metadata/country',
      { ...countryInfo(), datastore: { backend: storeKind(), collection: 'a"; drop' } },
      422,
      'metadata:InvalidDatastore',
    ],
    [
      'a default version must exist',
      '/metadata/country',
      { ...countryInfo(), defaultVersion: '9.9.9' },
      422,
      'metadata:InvalidDefaultVersion',
    ],
    [
      'a hook for find is refused',
      '/metadata/country',
      { ...countryInfo(), hooks: [{ name: 'h', actions: ['find'] }] },
      422,
      'metadata:InvalidHook',
    ],
    [
      'an index of an array of objects is refused',
      '/metadata/country',
      {
        ...countryInfo(),
        indexes: [{ name: 'x', unique: false, fields: [{ field: 'places', dir: '$asc' }] }],
      },
      422,
      'metadata:InvalidIndex',
    ],
  ]
  for (const [rule, path, body, status, code] of REFUSED) {
    test(`update of entity info: ${rule}`, async () => {
      const before = (await ask('GET', '/metadata/country/default')).text
      for (const address of both(path)) metadataError(await ask('PUT', address, { body }), status, code)
      assert.equal((await ask('GET', '/metadata/country/default')).text, before)
    })
  }

  test('update of entity info: an index that cannot be built refuses the change', async () => {
    await store({ ask }, 'country', [country('CH', 'same', 1), country('FR', 'same', 2)])
    const indexes = [{ name: 'names', unique: true, fields: [{ field: 'name', dir: '$asc' }] }]
    metadataError(
      await ask('PUT', '/metadata/country', { body: { ...countryInfo(), indexes } }),
      422,
      'metadata:InvalidIndex',
    )
    sound(await ask('GET', '/data/find/country'))
  })

  test('metadata: GET /metadata gives the names, sorted', async () => {
    for (const path of both('/metadata')) {
      const { entities } = sound(await ask('GET', path)).json
      assert.ok(entities.includes('country') && entities.includes('draft'))
      assert.deepEqual(entities, [...entities].sort())
    }
  })

  test('metadata: GET /metadata/s=active,deprecated filters', async () => {
    await define('old', { a: { type: 'string' } }, { info: { defaultVersion: null } })
    sound(await ask('PUT', '/metadata/old/1.0.0/disabled'))
    assert.equal(
      sound(await ask('GET', '/metadata/s=active,deprecated')).json.entities.includes('old'),
      false,
    )
    assert.deepEqual(sound(await ask('GET', '/metadata/s=disabled')).json.entities, ['old'])
    metadataError(await ask('GET', '/metadata/s=retired'), 422, 'metadata:ParseInvalidStatus')
  })

  test('metadata: GET then PUT of the same document always works, and changes nothing', async () => {
    for (const entity of ['country', 'staff', 'foo', 'draft']) {
      const { version } = sound(await ask('GET', `/metadata/${entity}`)).json[0]
      const document = sound(await ask('GET', `/metadata/${entity}/${version}`))
      const history = (await ask('GET', `/metadata/${entity}/history`)).text
      assert.equal(
        sound(await ask('PUT', `/metadata/${entity}/${version}`, { body: document.json })).text,
        document.text,
      )
      assert.equal((await ask('GET', `/metadata/${entity}/history`)).text, history)
    }
  })

  test('metadata: key order of fields is kept', async () => {
    const fields = Object.fromEntries(['zeta', 'alpha', 'mid'].map((name) => [name, { type: 'string' }]))
    await define('ordering', fields)
    const { schema } = sound(await ask('GET', '/metadata/ordering/default')).json
    assert.deepEqual(Object.keys(schema.fields).slice(0, 3), ['zeta', 'alpha', 'mid'])
  })

  test('metadata: the same version with other content is metadata:DuplicateSchema, unless it is a SNAPSHOT', async () => {
    const document = (value: string, field: string) =>
      metadataDocument(
        'snap',
        { [field]: { type: 'string' } },
        { info: { defaultVersion: value }, schema: { version: { value, changelog: 'x' } } },
      )
    sound(await ask('PUT', '/metadata/snap/1.0.0', { body: document('1.0.0', 'a') }))
    const changed = await ask('PUT', '/metadata/snap/1.0.0', { body: document('1.0.0', 'b') })
    metadataError(changed, 409, 'metadata:DuplicateSchema')
    const snapshot = '2.0.0-SNAPSHOT'
    sound(await ask('PUT', `/metadata/snap/${snapshot}`, { body: document(snapshot, 'a') }))
    sound(await ask('PUT', `/metadata/snap/${snapshot}`, { body: document(snapshot, 'b') }))
  })

  test('metadata: disabling the default is refused; removal needs every version disabled; data stays', async () => {
    await define('brief', { a: { type: 'string' } })
    await store({ ask }, 'brief', [{ _id: '1', a: 'kept' }])
    metadataError(await ask('DELETE', '/metadata/brief'), 409, 'metadata:CannotDeleteEntity')
    metadataError(await ask('PUT', '/metadata/brief/1.0.0/disabled'), 409, 'metadata:DisabledDefaultVersion')
    sound(await ask('DELETE', '/metadata/brief/default'))
    sound(await ask('PUT', '/metadata/brief/1.0.0/disabled'))
    metadataError(await ask('DELETE', '/metadata/brief'), 409, 'metadata:CannotDeleteEntity')
    sound(await ask('DELETE', '/metadata/brief?documents=keep'))
    dataError(await ask('GET', '/data/find/brief/1.0.0'), 404, 'crud:UnknownEntity')
    await define('brief', { a: { type: 'string' } })
    assert.equal(sound(await ask('GET', '/data/find/brief?P=a:1')).json.processed[0].a, 'kept')
  })

  test('metadata: every change is kept in a history: who, when, what', async () => {
    const headers = { 'Smalt-Principal': 'ann' }
    const body = { ...countryInfo(), hooks: [{ name: 'h', actions: ['insert'] }] }
    sound(await ask('PUT', '/metadata/country', { body, headers }))
    const { json } = sound(await ask('GET', '/metadata/country/history'))
    const record = json.find(({ principal }: JsonObject) => principal === 'ann')
    assert.equal(record.action, 'updateInfo')
    assert.match(record.at, /^\d{4}-\d\d-\d\dT/)
    assert.equal('hooks' in record.before.entityInfo, false)
    assert.equal(record.after.entityInfo.hooks[0].name, 'h')
  })

  for (const name of ['roles', 'dependencies', 'health', '1a', '-a', 'a.b', 'ä', 'x'.repeat(129)]) {
    test(`metadata: ${name.slice(0, 20)} is refused as an entity name`, async () => {
      const body = metadataDocument(name, { a: { type: 'string' } })
      const answer = await ask('PUT', `/metadata/${encodeURIComponent(name)}/1.0.0`, { body })
      metadataError(answer, 422, 'metadata:InvalidName')
    })
  }

  test('metadata: an entity name may have 128 characters', async () => {
    const name = `N_${'x'.repeat(126)}`
    await define(name, { a: { type: 'string' } })
    sound(await ask('GET', `/data/find/${name}`))
  })

  for (const name of ['a.b', '$a', '*', '12', '-3', 'a#', 'constructor', 'prototype', '']) {
    test(`metadata: ${JSON.stringify(name)} is refused as a field name`, async () => {
      const body = metadataDocument('fields', { [name]: { type: 'string' } })
      metadataError(await ask('PUT', '/metadata/fields/1.0.0', { body }), 422, 'metadata:InvalidName')
    })
  }

  for (const name of [
    'with space',
    'ä',
    '"quoted"',
    "it's",
    '1a',
    'a$',
    '-',
    'toString',
    'hasOwnProperty',
    '\\',
  ]) {
    test(`metadata: ${JSON.stringify(name)} may name a field, and is stored, found and sorted by`, async () => {
      const entity = `named_${Buffer.from(name).toString('hex')}`
      await define(
        entity,
        { [name]: { type: 'string' } },
        { info: { indexes: [{ name: 'i', unique: true, fields: [{ field: name, dir: '$asc' }] }] } },
      )
      await store({ ask }, entity, [
        { _id: '1', [name]: 'x' },
        { _id: '2', [name]: 'y' },
      ])
      const body = {
        query: { field: name, op: '=', rvalue: 'x' },
        sort: { [name]: '$desc' },
        projection: { field: name },
      }
      const { json } = sound(await ask('POST', `/data/find/${entity}`, { body }))
      assert.deepEqual(json.processed, [{ [name]: 'x' }])
    })
  }

  for (const version of ['1', '1.0', 'v1.0.0', '1.0.0+x', 'a.b.c', '1.0.0-']) {
    test(`metadata: ${version} is refused as a version`, async () => {
      const schema = { version: { value: version, changelog: 'x' }, access: ANYONE }
      const body = metadataDocument(
        'versions',
        { a: { type: 'string' } },
        { info: { defaultVersion: null }, schema },
      )
      const answer = await ask('PUT', `/metadata/versions/${encodeURIComponent(version)}`, { body })
      metadataError(answer, 422, 'metadata:InvalidVersionNumber')
    })
  }
})
