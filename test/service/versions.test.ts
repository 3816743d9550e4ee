/** Versions of an entity share their documents; each shows what it defines. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/base/json/json.ts'
import {
  ADMIN,
  EVERYTHING,
  type TestService,
  codeOf,
  documentsOf,
  metadataDocument,
  openTestService,
} from '../support/service.ts'
import { onEveryStore } from '../support/store-kind.ts'

async function openTwoVersions(): Promise<TestService> {
  const tester = await openTestService()
  await tester.define('t', {
    a: { type: 'string' },
    b: { type: 'string' },
    o: { type: 'object', fields: { x: { type: 'string' }, y: { type: 'string' } } },
  })
  const fields = {
    a: { type: 'string' },
    c: { type: 'integer' },
    o: { type: 'object', fields: { x: { type: 'string' } } },
  }
  const version = { value: '2.0.0', changelog: 'second' }
  const body = metadataDocument('t', fields, { schema: { version } })
  await tester.service.metadata.create(ADMIN, { entity: 't', version: '2.0.0' }, body)
  return tester
}

const find = (tester: TestService, version: string, body: JsonObject = {}) =>
  tester.service.data.find(ADMIN, { entity: 't', version }, { projection: EVERYTHING, ...body })

onEveryStore(() => {
  test('find: a version shows only the members that it defines', async () => {
    await using tester = await openTwoVersions()
    await tester.store('t', { _id: '1', a: 'A', b: 'B', o: { x: 'X', y: 'Y' } })
    assert.deepEqual(documentsOf(await find(tester, '2.0.0')), [
      { _id: '1', a: 'A', o: { x: 'X' }, objectType: 't' },
    ])
    assert.deepEqual(documentsOf(await find(tester, '1.0.0')), [
      { _id: '1', a: 'A', b: 'B', o: { x: 'X', y: 'Y' }, objectType: 't' },
    ])
  })

  test('find: a version cannot be asked about members of another', async () => {
    await using tester = await openTwoVersions()
    const query = { field: 'b', op: '=', rvalue: 'B' }
    assert.equal(codeOf(await find(tester, '2.0.0', { query })), 'metadata:InvalidFieldReference')
    assert.deepEqual(documentsOf(await find(tester, '2.0.0', { projection: { field: 'b' } })), [])
  })

  test('find: the default version answers when none is named; a body version counts where the path has none', async () => {
    await using tester = await openTwoVersions()
    assert.equal((await tester.find('t', { projection: EVERYTHING })).entityVersion, '1.0.0')
    assert.equal(
      (await tester.find('t', { projection: EVERYTHING, entityVersion: '2.0.0' })).entityVersion,
      '2.0.0',
    )
    assert.equal(
      (await tester.find('t', { projection: EVERYTHING, version: '2.0.0' })).entityVersion,
      '2.0.0',
    )
    assert.equal(codeOf(await find(tester, '1.0.0', { version: '2.0.0' })), 'rest-crud:NoVersionMatch')
  })

  test('find: the size of an array is the stored one, whoever checks the query', async () => {
    await using tester = await openTestService()
    const { data, metadata } = tester.service
    await tester.define('t', { list: { type: 'any' } })
    const version = { value: '2.0.0', changelog: 'typed' }
    const typed = { list: { type: 'array', items: { type: 'integer' } } }
    const target = { entity: 't', version: '2.0.0' }
    await metadata.create(ADMIN, target, metadataDocument('t', typed, { schema: { version } }))
    await tester.store('t', { _id: '1', list: [1, 2] })
    await data.insert(ADMIN, target, { data: { _id: '2', list: [1, 2] } })
    const isTwo = { field: 'list#', op: '=', rvalue: 2 }
    // PostgreSQL cannot evaluate this pattern, so the service checks the whole condition.
    const other = { field: '_id', regex: '\\pL', caseInsensitive: true }
    for (const query of [isTwo, { $or: [isTwo, other] }]) {
      const found = documentsOf(await find(tester, '2.0.0', { query, projection: { field: '_id' } }))
      assert.deepEqual(found, [{ _id: '2' }], JSON.stringify(query))
    }
  })

  test('find: unknown entities and versions, and disabled ones', async () => {
    await using tester = await openTwoVersions()
    assert.equal(codeOf(await tester.find('zz', { projection: EVERYTHING })), 'crud:UnknownEntity')
    assert.equal(codeOf(await find(tester, '3.0.0')), 'crud:UnknownEntity')
    await tester.service.metadata.setStatus(ADMIN, { entity: 't', version: '2.0.0' }, { status: 'disabled' })
    assert.equal(codeOf(await find(tester, '2.0.0')), 'crud:DisabledMetadataVersion')
    await tester.service.metadata.clearDefault(ADMIN, 't')
    assert.equal(codeOf(await tester.find('t', { projection: EVERYTHING })), 'crud:NoDefaultVersion')
  })

  test('find: a result larger than the limit is refused as a whole', async () => {
    await using tester = await openTestService({ limits: { resultBytes: 200 } })
    await tester.define('t', { a: { type: 'string' } })
    const texts = Array.from({ length: 5 }, (_, i) => ({ _id: String(i), a: 'x'.repeat(50) }))
    for (const each of texts) await tester.store('t', each)
    const tooLarge = await tester.find('t', { projection: EVERYTHING })
    assert.equal(codeOf(tooLarge), 'crud:ResultSizeTooLarge')
    assert.equal((await tester.find('t', { projection: EVERYTHING, range: [0, 0] })).processed?.length, 1)
  })
})
