/** An aggregate is about the documents in which its caller may read every field that it names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../../src/access/caller.ts'
import type { JsonObject } from '../../../src/base/json/json.ts'
import type { DataResponse } from '../../../src/service/response.ts'
import { callerWith, type TestService, openTestService } from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const string = { type: 'string' }
const own = (role: string): JsonObject => ({
  role,
  where: { field: 'owner', op: '=', rvalue: '$caller.principal' },
})
const CLERK: Caller = { ...callerWith('clerk'), principal: 'ann' }
const WRITER = { insert: ['anyone'], update: ['anyone'], delete: ['anyone'] }

async function filled(): Promise<TestService> {
  const tester = await openTestService()
  await tester.define(
    'person',
    { _id: string, owner: string, city: string, code: { ...string, access: { find: ['boss'] } } },
    { schema: { access: { ...WRITER, find: ['boss', own('clerk')] } } },
  )
  await tester.define(
    'sale',
    {
      _id: string,
      owner: string,
      city: string,
      personId: string,
      amount: { type: 'integer', access: { find: ['boss', own('clerk')] } },
      margin: { type: 'integer', access: { find: ['boss'] } },
      helperId: { ...string, access: { find: ['boss'] } },
      person: {
        type: 'reference',
        entity: 'person',
        query: { field: '_id', op: '=', rfield: '$parent.personId' },
      },
      parts: {
        type: 'array',
        items: {
          type: 'object',
          fields: {
            helperId: string,
            helper: {
              type: 'reference',
              entity: 'person',
              query: { field: '_id', op: '=', rfield: '$parent.helperId' },
            },
          },
        },
      },
    },
    { schema: { access: { ...WRITER, find: ['boss', 'clerk'] } } },
  )
  await tester.service.data.insert(
    CLERK,
    { entity: 'person' },
    {
      data: [
        { _id: 'p1', owner: 'ann', city: 'Bern', code: 'x' },
        { _id: 'p2', owner: 'bob', city: 'Bern', code: 'y' },
      ],
    },
  )
  await tester.service.data.insert(
    callerWith('boss'),
    { entity: 'sale' },
    {
      data: [
        {
          _id: '1',
          owner: 'ann',
          city: 'Bern',
          amount: 1,
          margin: 9,
          personId: 'p1',
          helperId: 'p1',
          parts: [{ helperId: 'nobody' }],
        },
        { _id: '2', owner: 'bob', city: 'Bern', amount: 20, margin: 9, personId: 'p2' },
        { _id: '3', owner: 'ann', city: 'Basel', amount: 300, margin: 9, personId: 'p2' },
      ],
    },
  )
  return tester
}

onEveryStore(() => {
  test('aggregate: hidden fields are refused, and row rules narrow what is aggregated', async (t) => {
    await using tester = await filled()
    const ask = (caller: Caller, request: JsonObject): Promise<DataResponse> =>
      tester.service.data.aggregate(caller, { entity: 'sale' }, request)
    const refused: Readonly<Record<string, JsonObject>> = {
      'a hidden key': { groupBy: ['margin'] },
      'a hidden value': { values: { m: { $sum: 'margin' } } },
      'a hidden field in the query': { query: { field: 'margin', op: '=', rvalue: 9 }, groupBy: ['city'] },
      'a hidden field of a joined document': { groupBy: ['person.*.code'] },
    }
    for (const [name, request] of Object.entries(refused)) {
      await t.test(`${name} is refused`, async () => {
        const { errors } = await ask(CLERK, request)
        assert.equal(errors?.[0]?.errorCode, 'crud:NoAccess')
        assert.deepEqual((await ask(callerWith('boss'), request)).errors, undefined)
      })
    }
    await t.test(
      'a field with a row rule narrows the documents to those in which it is readable',
      async () => {
        const request = { groupBy: ['city'], values: { n: { $count: true }, s: { $sum: 'amount' } } }
        assert.deepEqual((await ask(CLERK, request)).processed, [
          '{"city":"Basel","n":1,"s":300}',
          '{"city":"Bern","n":1,"s":1}',
        ])
        assert.deepEqual((await ask(callerWith('boss'), request)).processed, [
          '{"city":"Basel","n":1,"s":300}',
          '{"city":"Bern","n":2,"s":21}',
        ])
      },
    )
    await t.test('documents that the caller may not find are not joined', async () => {
      const request = { groupBy: ['person.*.city'], values: { n: { $count: true } } }
      assert.deepEqual((await ask(CLERK, request)).processed, ['{"person.*.city":"Bern","n":1}'])
      assert.deepEqual((await ask(callerWith('boss'), request)).processed, ['{"person.*.city":"Bern","n":3}'])
    })
    await t.test('a hidden field with the name of one in an element joins nothing', async () => {
      const request = { groupBy: ['parts.0.helper.*.city'], values: { n: { $count: true } } }
      assert.deepEqual((await ask(CLERK, request)).processed, [])
    })
    await t.test('the entity itself is narrowed, and explain shows no SQL then', async () => {
      const request = { values: { n: { $count: true } } }
      const { data } = tester.service
      assert.deepEqual((await data.aggregate(CLERK, { entity: 'person' }, request)).processed, ['{"n":1}'])
      const explained = await data.explain(CLERK, { entity: 'person' }, request)
      assert.match(explained.processed![0]!, /"sql":""/)
    })
    await t.test('a caller without access to the entity is refused', async () => {
      const { errors } = await ask(callerWith('guest'), { values: { n: { $count: true } } })
      assert.equal(errors?.[0]?.errorCode, 'crud:NoAccess')
    })
  })
})
