/** The published interface: save, update, delete, optimistic concurrency, and who may write what. */
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { EVERYTHING, addresses, country, dataError, errorObject, seed, sound, store } from './fixture.ts'
import { onEveryStore } from '../../support/store-kind.ts'

onEveryStore(() => {
  const server = seed()
  const { ask } = server

  beforeEach(async () => {
    for (const entity of ['country', 'staff'])
      sound(await ask('POST', `/data/delete/${entity}`, { body: { query: { $and: [] } }, roles: ['boss'] }))
    await store(server, 'country', [
      { _id: '1', ...country('CH', 'Switzerland', 9), neighbours: ['FR'] },
      { _id: '2', ...country('FR', 'France', 68) },
      { _id: '3', ...country('IT', 'Italy', 59) },
    ])
    await store(server, 'staff', [{ _id: 'a', name: 'Ann', salary: 100 }])
  })

  const byId = (id: string): JsonObject => ({ field: '_id', op: '=', rvalue: id })
  const IDS = { field: '_id', include: true }

  async function post(operation: string, body: JsonObject, roles: readonly string[] = []) {
    const entity = (body['entity'] as string | undefined) ?? 'country'
    return sound(await ask('POST', `/data/${operation}/${entity}`, { body, roles })).json
  }

  async function one(id: string, entity = 'country'): Promise<Record<string, Json>> {
    return sound(await ask('GET', `/data/find/${entity}?Q=_id:${id}`, { roles: ['boss'] })).json.processed[0]
  }

  async function versionOf(id: string): Promise<string> {
    const { json } = sound(await ask('GET', `/data/find/country?Q=_id:${id}`))
    return json.resultMetadata[0].documentVersion
  }

  for (const path of addresses('save', 'country', '1.0.0')) {
    test(`save: ${path} replaces documents by their identity`, async () => {
      const body = { data: [{ _id: '1', iso2Code: 'CH', name: 'Suisse' }], projection: EVERYTHING }
      const { resultMetadata, ...rest } = sound(await ask('POST', path, { body })).json
      assert.equal(resultMetadata.length, 1)
      assert.deepEqual(rest, {
        entity: 'country',
        entityVersion: '1.0.0',
        status: 'COMPLETE',
        modifiedCount: 1,
        matchCount: 0,
        processed: [
          { _id: '1', iso2Code: 'CH', name: 'Suisse', objectType: 'country', 'neighbours#': 0, 'places#': 0 },
        ],
      })
      assert.equal('population' in (await one('1')), false)
    })
  }

  test('save: an identical document counts nothing', async () => {
    const json = await post('save', { data: await one('2') })
    assert.deepEqual([json.status, json.modifiedCount], ['COMPLETE', 0])
  })

  test('save: an unknown identity without upsert is store-crud:SaveError on that document', async () => {
    const json = await post('save', {
      data: [
        { _id: '9', iso2Code: 'XX' },
        { _id: '1', iso2Code: 'CH' },
      ],
    })
    assert.deepEqual([json.status, json.modifiedCount], ['PARTIAL', 1])
    assert.equal(json.dataErrors[0].data._id, '9')
    errorObject(json.dataErrors[0].errors[0], 'store-crud:SaveError')
  })

  test('save: with upsert a new document is inserted', async () => {
    const json = await post('save', { data: { _id: '9', iso2Code: 'XX' }, upsert: true })
    assert.deepEqual([json.status, json.modifiedCount], ['COMPLETE', 1])
    assert.equal((await one('9'))['iso2Code'], 'XX')
  })

  test('save: without a projection returns {} per document', async () => {
    assert.deepEqual((await post('save', { data: await one('1') })).processed, [{}])
  })

  test('save: a write through one version keeps stored members that its schema does not know', async () => {
    sound(
      await ask('POST', '/data/save/country/1.1.0', {
        body: { data: { _id: '1', iso2Code: 'CH', capital: 'Bern' } },
      }),
    )
    await post('save', { data: { _id: '1', iso2Code: 'CH', name: 'later' } })
    const { processed } = sound(await ask('GET', '/data/find/country/1.1.0?Q=_id:1')).json
    assert.deepEqual([processed[0].capital, processed[0].name], ['Bern', 'later'])
  })

  test('save: needs update access, and insert access too with upsert', async () => {
    const data = { _id: 'a', name: 'Ann' }
    for (const upsert of [true, false]) {
      const body = { data, upsert }
      dataError(await ask('POST', '/data/save/staff', { body, roles: ['guest'] }), 403, 'crud:NoAccess')
    }
  })

  test('save: members a caller may not read and does not name are carried over', async () => {
    const json = await post('save', { entity: 'staff', data: { _id: 'a', name: 'Anna' } }, ['hr'])
    assert.equal(json.modifiedCount, 1)
    const ann = await one('a', 'staff')
    assert.deepEqual([ann['name'], ann['salary']], ['Anna', 100])
  })

  for (const salary of [100, 7]) {
    test(`save: a hidden field that is named (${salary}) is denied whatever its value`, async () => {
      const json = await post('save', { entity: 'staff', data: { _id: 'a', name: 'Ann', salary } }, ['hr'])
      assert.deepEqual([json.status, json.modifiedCount], ['ERROR', 0])
      errorObject(json.dataErrors[0].errors[0], 'crud:update:NoFieldAccess')
      assert.equal((await one('a', 'staff'))['salary'], 100)
    })
  }

  for (const path of addresses('update', 'country', '1.0.0')) {
    test(`update: ${path} changes the documents that match`, async () => {
      const body = { query: byId('1'), update: { $set: { name: 'Svizra' } }, projection: { field: 'name' } }
      const before = await versionOf('1')
      const { resultMetadata, ...rest } = sound(await ask('POST', path, { body })).json
      assert.deepEqual(rest, {
        entity: 'country',
        entityVersion: '1.0.0',
        status: 'COMPLETE',
        modifiedCount: 1,
        matchCount: 1,
        processed: [{ name: 'Svizra' }],
      })
      // the new documentVersion is returned
      assert.notEqual(resultMetadata[0].documentVersion, before)
      assert.equal(resultMetadata[0].documentVersion, await versionOf('1'))
    })
  }

  test('update: documents not changed count in matchCount, appear in processed, and are not written', async () => {
    const before = await versionOf('1')
    const update = { $set: { name: 'Switzerland' } }
    const json = await post('update', { query: { $and: [] }, update, projection: [IDS] })
    assert.deepEqual([json.status, json.matchCount, json.modifiedCount], ['COMPLETE', 3, 2])
    assert.equal(json.processed.length, 3)
    assert.equal(await versionOf('1'), before)
  })

  test('update: without a projection returns {} per document', async () => {
    const json = await post('update', { query: byId('1'), update: { $set: { name: 'x' } } })
    assert.deepEqual(json.processed, [{}])
  })

  test('update: documents that fail are reported and left out, the others commit together', async () => {
    const update = { $set: { iso2Code: { $valueof: 'name' } } }
    await post('update', { query: byId('1'), update: { $set: { name: 'XY' } } })
    const json = await post('update', { query: { $and: [] }, update })
    assert.deepEqual([json.status, json.matchCount, json.modifiedCount], ['PARTIAL', 3, 1])
    for (const { errors } of json.dataErrors) errorObject(errors[0], 'crud:TooLong')
    assert.deepEqual([(await one('1'))['iso2Code'], (await one('2'))['iso2Code']], ['XY', 'FR'])
  })

  test('update: execution.atomic makes any failure fail all of it', async () => {
    const body = { query: { $and: [] }, update: { $set: { iso2Code: 'ZZ' } }, execution: { atomic: true } }
    const json = await post('update', body)
    assert.deepEqual([json.status, json.modifiedCount], ['ERROR', 0])
    assert.deepEqual((await one('1'))['iso2Code'], 'CH')
  })

  test('update: a field without access is crud:update:NoFieldAccess on that document', async () => {
    const update = { $set: { salary: 100 } }
    const json = await post('update', { entity: 'staff', query: byId('a'), update }, ['hr'])
    assert.deepEqual([json.status, json.modifiedCount], ['ERROR', 0])
    errorObject(json.dataErrors[0].errors[0], 'crud:update:NoFieldAccess')
  })

  const DENIED: readonly [rule: string, body: JsonObject][] = [
    ['$valueof', { query: byId('a'), update: { $set: { floor: { $valueof: 'salary' } } } }],
    ['the query', { query: { field: 'salary', op: '>', rvalue: 1 }, update: { $set: { floor: 1 } } }],
  ]
  for (const [rule, body] of DENIED) {
    test(`update: an unreadable field named in ${rule} is crud:NoAccess and nothing runs`, async () => {
      dataError(await ask('POST', '/data/update/staff', { body, roles: ['hr'] }), 403, 'crud:NoAccess')
      assert.equal('floor' in (await one('a', 'staff')), false)
    })
  }

  test('update: concurrent updates of one document never lose each other’s effect', async () => {
    const body = { query: byId('1'), update: { $add: { population: 1 } } }
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => ask('POST', '/data/update/country', { body })),
    )
    for (const answer of answers) assert.equal(sound(answer).json.modifiedCount, 1)
    assert.equal((await one('1'))['population'], 49)
  })

  for (const [operation, more] of [
    ['update', { update: { $set: { name: 'x' } } }],
    ['delete', {}],
  ] as const) {
    test(`${operation}: without a query is store-crud:NullQuery`, async () => {
      for (const path of addresses(operation, 'country', '1.0.0'))
        dataError(await ask('POST', path, { body: more }), 400, 'store-crud:NullQuery')
    })
    test(`${operation}: without access to the entity is crud:NoAccess`, async () => {
      const body = { query: byId('a'), ...more }
      for (const path of addresses(operation, 'staff', '1.0.0'))
        dataError(await ask('POST', path, { body, roles: ['guest'] }), 403, 'crud:NoAccess')
    })
  }

  for (const path of addresses('delete', 'country', '1.0.0')) {
    test(`delete: ${path} removes what matches, and never answers processed`, async () => {
      const body = { query: { field: 'population', op: '>', rvalue: 50 } }
      const { matchCount: _, ...rest } = sound(await ask('POST', path, { body })).json
      assert.deepEqual(rest, {
        entity: 'country',
        entityVersion: '1.0.0',
        status: 'COMPLETE',
        modifiedCount: 2,
      })
      assert.equal(sound(await ask('GET', '/data/find/country')).json.matchCount, 1)
    })
  }

  test('delete: an unreadable field named in the query is crud:NoAccess and nothing runs', async () => {
    const schema = { access: { find: ['x'], insert: ['hr'], update: ['x'], delete: ['x'] } }
    const fields = { open: { type: 'string' }, shut: { type: 'string', access: { find: ['y'] } } }
    await server.define('vault', fields, { schema })
    await store(server, 'vault', [{ open: 'o', shut: 's' }])
    const body = { query: { field: 'shut', op: '=', rvalue: 's' } }
    dataError(await ask('POST', '/data/delete/vault', { body, roles: ['x'] }), 403, 'crud:NoAccess')
    assert.equal(sound(await ask('GET', '/data/find/vault', { roles: ['x'] })).json.matchCount, 1)
  })

  test('onlyIfCurrent: a current version is written, a stale one is store-crud:ConcurrentUpdate', async () => {
    const read = await versionOf('1')
    const request = { query: byId('1'), onlyIfCurrent: true, documentVersions: [read] }
    const first = await post('update', { ...request, update: { $set: { name: 'first' } } })
    assert.deepEqual([first.status, first.modifiedCount], ['COMPLETE', 1])
    const second = await post('update', { ...request, update: { $set: { name: 'second' } } })
    assert.deepEqual([second.status, second.modifiedCount], ['ERROR', 0])
    errorObject(second.dataErrors[0].errors[0], 'store-crud:ConcurrentUpdate')
    assert.equal((await one('1'))['name'], 'first')
  })

  test('onlyIfCurrent: holds for save', async () => {
    const read = await versionOf('1')
    const request = { onlyIfCurrent: true, documentVersions: [read] }
    const data = { _id: '1', iso2Code: 'CH', name: 'saved' }
    assert.equal((await post('save', { ...request, data })).modifiedCount, 1)
    const stale = await post('save', { ...request, data: { ...data, name: 'late' } })
    errorObject(stale.dataErrors[0].errors[0], 'store-crud:ConcurrentUpdate')
    assert.equal((await one('1'))['name'], 'saved')
  })

  test('onlyIfCurrent: documents not listed are neither touched nor counted', async () => {
    const json = await post('update', {
      query: { $and: [] },
      update: { $set: { name: 'x' } },
      projection: IDS,
      onlyIfCurrent: true,
      documentVersions: [await versionOf('2')],
    })
    assert.deepEqual([json.matchCount, json.modifiedCount, json.processed], [1, 1, [{ _id: '2' }]])
    assert.equal((await one('1'))['name'], 'Switzerland')
  })

  test('onlyIfCurrent: of many writers with one version, one wins', async () => {
    const documentVersions = [await versionOf('1')]
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        post('update', {
          query: byId('1'),
          update: { $set: { name: `writer ${i}` } },
          onlyIfCurrent: true,
          documentVersions,
        }),
      ),
    )
    assert.equal(answers.filter(({ modifiedCount }) => modifiedCount === 1).length, 1)
  })
})
