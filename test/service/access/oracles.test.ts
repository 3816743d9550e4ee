/** Ways in which systems like this one have told what they should have kept to themselves: each is closed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { DataResponse } from '../../../src/service/response.ts'
import { ADMIN, callerWith, documentsOf } from '../../support/service.ts'
import { type Tenant, openTenant } from '../../support/shared-service.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const HIDDEN = { find: ['admin'] }
const CLERK = callerWith()
const BOSS = callerWith('admin')
const ALL: Json = { $and: [] }
const EVERYTHING: Json = { field: '*', recursive: true }

async function opened(fields: JsonObject, access?: JsonObject): Promise<Tenant> {
  const on = await openTenant()
  const open = { insert: ['anyone'], find: ['anyone'], update: ['anyone'], delete: ['anyone'] }
  await on.define(
    on.entity,
    { _id: { type: 'string' }, ...fields },
    { schema: { access: { ...open, ...access } } },
  )
  return on
}

function update(on: Tenant, change: Json, more: JsonObject = {}): Promise<DataResponse> {
  return on.service.data.update(CLERK, { entity: on.entity }, { query: ALL, update: change, ...more })
}

function codeOf({ errors, dataErrors }: DataResponse): string | undefined {
  return errors?.[0]?.errorCode ?? dataErrors?.[0]?.errors[0]?.errorCode
}

onEveryStore(() => {
  test('update: shows nothing to a writer who may not find', async () => {
    await using on = await opened({ a: { type: 'string' } }, { find: ['reader'] })
    await on.service.data.insert(ADMIN, { entity: on.entity }, { data: { _id: '1', a: 'secret' } })
    const written = await update(on, { $set: { a: 'new' } }, { projection: EVERYTHING })
    assert.equal(written.modifiedCount, 1)
    assert.deepEqual(documentsOf(written), [{}])
    const asked = await on.service.data.update(
      CLERK,
      { entity: on.entity },
      { query: { field: 'a', op: '=', rvalue: 'new' }, update: { $set: { a: 'x' } } },
    )
    assert.equal(codeOf(asked), 'crud:NoAccess')
    assert.equal(codeOf(await update(on, { $set: { a: { $valueof: 'a' } } })), 'crud:NoAccess')
  })

  test('delete: a writer who may not find may not choose by a field', async () => {
    await using on = await opened({ a: { type: 'string' } }, { find: ['reader'] })
    const query = { field: 'a', op: '=', rvalue: 'x' }
    assert.equal(
      codeOf(await on.service.data.delete(CLERK, { entity: on.entity }, { query })),
      'crud:NoAccess',
    )
  })

  test('insert: shows nothing to a writer who may not find', async () => {
    await using on = await opened({ a: { type: 'string' } }, { find: [] })
    const response = await on.service.data.insert(
      CLERK,
      { entity: on.entity },
      { data: { a: 'x' }, projection: EVERYTHING },
    )
    assert.deepEqual(documentsOf(response), [{}])
  })

  const SECRETS: readonly [rule: string, change: Json][] = [
    [
      '$foreach tells the number of elements',
      { $foreach: { sec: '$all', $update: { $add: { '$parent.n': 1 } } } },
    ],
    ['$add tells a number by its overflow', { $add: { sal: 1 } }],
    ['$insert tells the number of elements by its index', { $insert: { 'sec.-4': 'x' } }],
    ['$append tells it by the largest number allowed', { $append: { sec: 'x' } }],
    ['$set tells it by an index', { $set: { 'sec.-1': 'x' } }],
    ['$unset tells it by an index', { $unset: 'sec.0' }],
    ['$valueof copies', { $set: { n: { $valueof: 'sal' } } }],
  ]
  for (const [rule, change] of SECRETS) {
    test(`update: ${rule}, so on a hidden field it is refused`, async () => {
      await using on = await opened({
        n: { type: 'integer' },
        sal: { type: 'integer', access: HIDDEN },
        sec: { type: 'array', items: { type: 'string' }, access: HIDDEN },
      })
      await on.store(on.entity, [{ _id: '1', n: 0, sal: 5000, sec: ['a', 'b', 'c'] }])
      assert.equal(codeOf(await update(on, change)), 'crud:NoAccess')
    })
  }

  test('update: a plain $set of a hidden field is allowed, and counts whatever was there', async () => {
    await using on = await opened({ sal: { type: 'integer', access: HIDDEN } })
    await on.store(on.entity, [{ _id: '1', sal: 5 }])
    assert.equal((await update(on, { $set: { sal: 5 } })).modifiedCount, 1)
    assert.equal((await update(on, { $set: { sal: 6 } })).modifiedCount, 1)
  })

  test('documentVersions: the mark of a hidden _id is no use for guessing, and still names one document', async () => {
    await using on = await opened({
      _id: { type: 'string', access: { find: ['admin'] } },
      n: { type: 'integer' },
    })
    await on.store(on.entity, [
      { _id: 'topsecret', n: 1 },
      { _id: 'other', n: 2 },
    ])
    const current = { onlyIfCurrent: true }
    const guess = await update(on, { $set: { n: 9 } }, { ...current, documentVersions: ['topsecret:0'] })
    assert.deepEqual([guess.status, guess.matchCount], ['COMPLETE', 0])
    const found = await on.find(on.entity, { projection: EVERYTHING, sort: { n: '$asc' } }, CLERK)
    const versions = found.resultMetadata!.map(
      (text) => (JSON.parse(text) as { documentVersion: string }).documentVersion,
    )
    assert.ok(versions.every((version) => !version.includes('topsecret') && !version.includes('other')))
    const one = { ...current, documentVersions: [versions[0]!] }
    assert.equal((await update(on, { $set: { n: 7 } }, one)).modifiedCount, 1)
    assert.equal(codeOf(await update(on, { $set: { n: 8 } }, one)), 'store-crud:ConcurrentUpdate')
  })

  test('save: members out of sight are carried over before anything is made or missed', async () => {
    await using on = await opened({
      name: { type: 'string' },
      token: { type: 'uid', constraints: { required: true }, access: HIDDEN },
      pin: { type: 'string', constraints: { required: true }, access: HIDDEN },
    })
    await on.store(on.entity, [{ _id: '1', name: 'n', token: 'KEEP-ME', pin: '1234' }])
    const save = (data: Json): Promise<DataResponse> =>
      on.service.data.save(CLERK, { entity: on.entity }, { data })
    assert.equal((await save({ _id: '1', name: 'n' })).modifiedCount, 0)
    assert.equal((await save({ _id: '1', name: 'm' })).modifiedCount, 1)
    const [document] = documentsOf(await on.find(on.entity, { projection: EVERYTHING }, BOSS))
    assert.deepEqual([document!['name'], document!['token'], document!['pin']], ['m', 'KEEP-ME', '1234'])
  })

  test('save: a hidden identity is no key to look with', async () => {
    await using on = await opened({ _id: { type: 'string', access: { find: ['admin'], update: ['admin'] } } })
    await on.store(on.entity, [{ _id: 'real' }])
    const answers = await Promise.all(
      ['real', 'fake'].map((_id) => on.service.data.save(CLERK, { entity: on.entity }, { data: { _id } })),
    )
    const told = answers.map(({ status, dataErrors }) => [status, dataErrors?.[0]?.errors])
    assert.deepEqual(told[0], told[1])
  })

  test('save: values the server makes are not held against the caller', async () => {
    const made = { type: 'date', constraints: { required: true }, access: { update: ['noone'] } }
    await using on = await opened({
      name: { type: 'string' },
      made: { ...made, valueGenerator: { type: 'CurrentTime', overwrite: true } },
    })
    await on.store(on.entity, [{ _id: '1', name: 'n' }])
    const save = (data: Json): Promise<DataResponse> =>
      on.service.data.save(CLERK, { entity: on.entity }, { data })
    assert.equal((await save({ _id: '1', name: 'm' })).modifiedCount, 1)
    const [document] = documentsOf(await on.find(on.entity, { projection: EVERYTHING }))
    assert.equal((await save(document!)).modifiedCount, 0)
  })

  test('update: whether a change is allowed does not depend on hidden members of elements', async () => {
    await using on = await opened({
      arr: {
        type: 'array',
        items: {
          type: 'object',
          fields: {
            pub: { type: 'integer', access: { update: ['admin'] } },
            sec: { type: 'string', access: HIDDEN },
          },
        },
      },
    })
    const element = (pub: number, sec: string): JsonObject => ({ pub, sec })
    await on.store(on.entity, [
      { _id: '1', arr: [element(1, 'a'), element(2, 'guess')] },
      { _id: '2', arr: [element(1, 'a'), element(2, 'other')] },
    ])
    const guess = { $foreach: { arr: '$all', $update: { $set: { sec: 'guess' } } } }
    const moved = await update(on, [{ $insert: { 'arr.0': {} } }, guess])
    assert.deepEqual([moved.status, moved.modifiedCount], ['COMPLETE', 2])
    const remove = { $foreach: { arr: { field: 'pub', op: '=', rvalue: 1 }, $update: '$remove' } }
    const removed = await update(on, [remove, guess])
    assert.deepEqual([removed.status, removed.modifiedCount, removed.dataErrors?.length], ['ERROR', 0, 2])
  })
})
