/** The published interface: insert. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { EVERYTHING, addresses, country, dataError, errorObject, seed, sound } from './fixture.ts'
import { onEveryStore } from '../../support/store-kind.ts'

onEveryStore(() => {
  const { ask } = seed()
  const INSERT = '/data/insert/country'

  async function codes(): Promise<readonly string[]> {
    const { processed } = sound(await ask('GET', '/data/find/country?P=iso2Code:1&S=iso2Code:a')).json
    return processed.map(({ iso2Code }: { iso2Code: string }) => iso2Code)
  }

  async function empty(entity = 'country'): Promise<void> {
    sound(await ask('POST', `/data/delete/${entity}`, { body: { query: { $and: [] } }, roles: ['boss'] }))
  }

  for (const path of addresses('insert', 'country', '1.0.0')) {
    test(`insert: ${path} answers status, modifiedCount and processed, the inserted documents as projected`, async () => {
      await empty()
      const projection = [
        { field: 'iso2Code', include: true },
        { field: 'name', include: true },
      ]
      const data = [country('CH', 'Switzerland', 9), country('FR', 'France', 68)]
      const body = { objectType: 'country', version: '1.0.0', data, projection }
      const { resultMetadata, ...rest } = sound(await ask('PUT', path, { body })).json
      assert.deepEqual(rest, {
        entity: 'country',
        entityVersion: '1.0.0',
        status: 'COMPLETE',
        modifiedCount: 2,
        matchCount: 0,
        processed: [
          { iso2Code: 'CH', name: 'Switzerland' },
          { iso2Code: 'FR', name: 'France' },
        ],
      })
      assert.equal(resultMetadata.length, 2)
      assert.deepEqual(await codes(), ['CH', 'FR'])
    })
  }

  test('insert: a schema must be defined before any data; inserting never creates one', async () => {
    for (const path of ['/data/insert/newcomer', '/data/insert/newcomer/1.0.0', '/data/insert/country/7.0.0'])
      dataError(await ask('PUT', path, { body: { data: [{ a: 1 }] } }), 404, 'crud:UnknownEntity')
    const { entities } = (await ask('GET', '/metadata')).json
    assert.equal(entities.includes('newcomer'), false)
    assert.equal((await ask('GET', '/metadata/newcomer/1.0.0')).status, 404)
  })

  test('insert: without a projection returns {} per document', async () => {
    await empty()
    const { json } = sound(await ask('PUT', INSERT, { body: { data: [country('CH', 'x', 1)] } }))
    assert.deepEqual(json.processed, [{}])
    assert.equal(json.resultMetadata.length, 1)
  })

  test('insert: data may be one object', async () => {
    await empty()
    assert.equal(
      sound(await ask('PUT', INSERT, { body: { data: country('CH', 'x', 1) } })).json.modifiedCount,
      1,
    )
  })

  test('insert: data [] is COMPLETE with 0', async () => {
    assert.deepEqual(sound(await ask('PUT', INSERT, { body: { data: [] } })).json, {
      entity: 'country',
      entityVersion: '1.0.0',
      status: 'COMPLETE',
      modifiedCount: 0,
      matchCount: 0,
      processed: [],
      resultMetadata: [],
    })
  })

  for (const data of [undefined, null, 'x', 1, true]) {
    test(`insert: data ${JSON.stringify(data)} is crud:InvalidRequest`, async () => {
      const body = data === undefined ? {} : { data }
      assert.match(
        dataError(await ask('PUT', INSERT, { body }), 400, 'crud:InvalidRequest')['msg'] as string,
        /"data".*\/data/,
      )
    })
  }

  test('insert: without access to the entity gives crud:NoAccess', async () => {
    for (const roles of [[], ['guest'], ['stranger']]) {
      for (const path of addresses('insert', 'staff', '1.0.0'))
        dataError(await ask('PUT', path, { body: { data: [{ name: 'x' }] }, roles }), 403, 'crud:NoAccess')
    }
  })

  test('insert: of a field without access gives crud:insert:NoFieldAccess', async () => {
    await empty('staff')
    const body = { data: [{ name: 'Ann', salary: 1 }, { name: 'Bob' }], projection: EVERYTHING }
    const { json } = sound(await ask('PUT', '/data/insert/staff', { body, roles: ['hr'] }))
    assert.equal(json.status, 'PARTIAL')
    assert.equal(json.modifiedCount, 1)
    assert.equal(json.processed[0].name, 'Bob')
    assert.deepEqual(json.dataErrors[0].data, { name: 'Ann', salary: 1 })
    const error = errorObject(json.dataErrors[0].errors[0], 'crud:insert:NoFieldAccess')
    assert.equal(error['context'], 'insert(staff:1.0.0)/salary')
  })

  test('insert: what is echoed leaves out what the caller may not read', async () => {
    const body = { data: [{ name: 'Cy', salary: 7 }], projection: EVERYTHING }
    const boss = sound(await ask('PUT', '/data/insert/staff', { body, roles: ['boss'] })).json.processed[0]
    assert.equal(boss.salary, 7)
    const hr = sound(
      await ask('PUT', '/data/insert/staff', { body: { ...body, data: [{ name: 'Di' }] }, roles: ['hr'] }),
    ).json.processed[0]
    assert.equal('salary' in hr, false)
  })

  test('insert: server-made values are never held against the caller', async () => {
    const body = { data: [{ name: 'Ed', badge: null, tags: [{}] }], projection: EVERYTHING }
    const { processed } = sound(await ask('PUT', '/data/insert/staff', { body, roles: ['hr'] })).json
    assert.match(processed[0].badge, /^\d+$/)
    assert.equal(processed[0].objectType, 'staff')
    assert.equal(processed[0]['tags#'], 1)
  })

  test('insert: a document that exists already gives store-crud:Duplicate', async () => {
    await empty()
    const first = { _id: '1', ...country('CH', 'x', 1) }
    sound(await ask('PUT', INSERT, { body: { data: first } }))
    const data = [first, country('CH', 'other _id, same index', 2), country('FR', 'new', 3)]
    const answer = sound(await ask('PUT', INSERT, { body: { data } }))
    const { status, modifiedCount, dataErrors } = answer.json
    assert.deepEqual([status, modifiedCount, dataErrors.length], ['PARTIAL', 1, 2])
    for (const { errors } of dataErrors) {
      const { msg } = errorObject(errors[0], 'store-crud:Duplicate')
      assert.ok(!(msg as string).includes('CH'), 'duplicate errors do not repeat the clashing value')
    }
    assert.deepEqual(await codes(), ['CH', 'FR'])
  })

  test('insert: the same identity twice in one request gives store-crud:Duplicate to the second', async () => {
    await empty()
    const data = [country('CH', 'first', 1), country('CH', 'second', 2)]
    const { json } = sound(await ask('PUT', INSERT, { body: { data } }))
    assert.deepEqual([json.status, json.modifiedCount], ['PARTIAL', 1])
    assert.equal(json.dataErrors[0].data.name, 'second')
  })

  const FAULTY: readonly [rule: string, document: Json, code: string][] = [
    ['a constraint', { name: 'no code' }, 'crud:Required'],
    ['an unknown field', { iso2Code: 'XX', nmae: 'x' }, 'metadata:InvalidFieldReference'],
    ['a wrong value', { iso2Code: 'XX', population: 'many' }, 'metadata:IncompatibleValue'],
    ['a wrong container', { iso2Code: 'XX', neighbours: {} }, 'metadata:IncompatibleValue'],
    ['a foreign objectType', { iso2Code: 'XX', objectType: 'staff' }, 'crud:InvalidEntity'],
  ]
  for (const [rule, document, code] of FAULTY) {
    test(`insert: a document that fails by ${rule} is reported and left out, the others commit together`, async () => {
      await empty()
      const data = [country('CH', 'x', 1), document, country('FR', 'y', 2)]
      const { json } = sound(await ask('PUT', INSERT, { body: { data } }))
      assert.deepEqual([json.status, json.modifiedCount, json.processed.length], ['PARTIAL', 2, 2])
      assert.deepEqual(json.dataErrors[0].data, document)
      errorObject(json.dataErrors[0].errors[0], code)
      assert.deepEqual(await codes(), ['CH', 'FR'])
    })
  }

  test('insert: all documents failed is ERROR with HTTP 200 and only dataErrors', async () => {
    const { json } = sound(await ask('PUT', INSERT, { body: { data: [{}, { name: 1 }] } }))
    assert.equal(json.status, 'ERROR')
    assert.equal('errors' in json, false)
    assert.equal(json.dataErrors.length, 2)
    assert.deepEqual(json.processed, [])
  })

  test('insert: constraint violations, all of them, are collected per document', async () => {
    const data = { iso2Code: 'toolong', population: 'many', nothing: 1 }
    const { dataErrors } = sound(await ask('PUT', INSERT, { body: { data } })).json
    assert.deepEqual(dataErrors[0].errors.map(({ errorCode }: JsonObject) => errorCode).sort(), [
      'crud:TooLong',
      'metadata:IncompatibleValue',
      'metadata:InvalidFieldReference',
    ])
  })

  test('insert: execution.atomic makes any failure fail all of it', async () => {
    await empty()
    const body = { data: [country('CH', 'x', 1), {}], execution: { atomic: true } }
    const { json } = sound(await ask('PUT', INSERT, { body }))
    assert.deepEqual([json.status, json.modifiedCount, json.processed], ['ERROR', 0, []])
    assert.deepEqual(
      json.dataErrors.map(({ errors }: { errors: JsonObject[] }) => errors[0]!['errorCode']),
      ['crud:Rolledback', 'crud:Required'],
    )
    assert.deepEqual(await codes(), [])
  })

  test('insert: _id is always present; a UUIDv7 is made where there is none', async () => {
    await empty()
    const body = { data: country('CH', 'x', 1), projection: EVERYTHING }
    const { processed, resultMetadata } = sound(await ask('PUT', INSERT, { body })).json
    assert.match(processed[0]._id, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    assert.ok(resultMetadata[0].documentVersion.startsWith(processed[0]._id))
  })

  test('insert: versions share their documents; a read shows only members the version defines', async () => {
    await empty()
    const data = { _id: '1', ...country('CH', 'x', 1), capital: 'Bern' }
    sound(await ask('PUT', '/data/insert/country/1.1.0', { body: { data } }))
    const older = sound(await ask('GET', '/data/find/country/1.0.0')).json
    const newer = sound(await ask('GET', '/data/find/country/1.1.0')).json
    assert.equal('capital' in older.processed[0], false)
    assert.equal(newer.processed[0].capital, 'Bern')
    assert.deepEqual([older.entityVersion, newer.entityVersion], ['1.0.0', '1.1.0'])
  })

  test('insert: the field of another version is unknown to this one', async () => {
    const body = { data: { iso2Code: 'ZZ', capital: 'x' } }
    const { dataErrors } = sound(await ask('PUT', INSERT, { body })).json
    errorObject(dataErrors[0].errors[0], 'metadata:InvalidFieldReference')
  })
})
