/** Documents are stored and shown with their members in one order, whatever their history. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/base/json/json.ts'
import { printResponse } from '../../src/service/response.ts'
import { ADMIN, EVERYTHING, type TestService, metadataDocument } from '../support/service.ts'
import { openTenant } from '../support/shared-service.ts'
import { onEveryStore } from '../support/store-kind.ts'

const FIELDS: JsonObject = {
  z: { type: 'string' },
  tags: { type: 'array', items: { type: 'string' } },
  o: { type: 'object', fields: { b: { type: 'integer' }, a: { type: 'integer' } } },
  lines: {
    type: 'array',
    items: { type: 'object', fields: { n: { type: 'integer' }, m: { type: 'integer' } } },
  },
  a: { type: 'string' },
}
const SENT: JsonObject = {
  a: 'y',
  o: { a: 1, b: 2 },
  lines: [{ m: 1, n: 2 }],
  _id: 'x',
  tags: ['t'],
  z: 'q',
}
const STORED =
  '{"objectType":"E","_id":"x","z":"q","tags":["t"],"tags#":1,"o":{"b":2,"a":1},"lines":[{"n":2,"m":1}],"lines#":1,"a":"y"}'

onEveryStore(() => {
  const query = { field: '_id', op: '=', rvalue: 'x' }
  const update = (changes: JsonObject) => ({ query, update: changes, projection: EVERYTHING })
  type Way = (tester: TestService, entity: string) => Promise<unknown>
  const WAYS: Readonly<Record<string, Way>> = {
    insert: (tester, entity) => tester.store(entity, [SENT]),
    'save that inserts': ({ service }, entity) =>
      service.data.save(ADMIN, { entity }, { data: SENT, upsert: true }),
    'save that replaces': async (tester, entity) => {
      await tester.store(entity, [{ _id: 'x', a: 'old', tags: [] }])
      await tester.service.data.save(ADMIN, { entity }, { data: SENT })
    },
    updates: async (tester, entity) => {
      await tester.store(entity, [{ lines: [], _id: 'x', a: 'old' }])
      const change = (changes: JsonObject) => tester.service.data.update(ADMIN, { entity }, update(changes))
      await change({ $set: { a: 'y', 'o.a': 1 }, $append: { lines: [{ m: 1, n: 2 }] } })
      await change({ $unset: 'a', $append: { tags: ['t'] } })
      await change({ $set: { z: 'q', a: 'y', 'o.b': 2 } })
    },
  }
  for (const [way, run] of Object.entries(WAYS)) {
    test(`member order: as the schema lists them, after ${way}`, async () => {
      await using tester = await openTenant()
      const { entity } = tester
      await tester.define(entity, FIELDS)
      await run(tester, entity)
      const response = await tester.find(entity, { projection: EVERYTHING })
      assert.equal(response.processed?.[0]?.replace(entity, 'E'), STORED, printResponse(response))
    })
  }

  test('member order: a generated _id comes second', async () => {
    await using tester = await openTenant()
    await tester.define(tester.entity, FIELDS)
    await tester.store(tester.entity, [{ a: 'y' }])
    const { processed } = await tester.find(tester.entity, { projection: EVERYTHING })
    assert.match(processed![0]!, /^\{"objectType":"[^"]+","_id":"[^"]+","tags#":0,"lines#":0,"a":"y"\}$/)
  })

  test('member order: members of other versions keep their place', async () => {
    await using tester = await openTenant()
    const { entity, service } = tester
    await tester.define(entity, { ...FIELDS, y2: { type: 'string' }, x1: { type: 'string' } })
    const later = metadataDocument(entity, FIELDS)
    const schema = { ...(later['schema'] as JsonObject), version: { value: '2.0.0', changelog: 'fewer' } }
    await service.metadata.create(ADMIN, { entity, version: '2.0.0' }, { ...later, schema })
    await tester.store(entity, [{ y2: '2', ...SENT, x1: '1' }])
    const target = { entity, version: '2.0.0' }
    await service.data.update(ADMIN, target, { query, update: { $set: { z: 'r' } } })
    const { processed } = await service.data.find(
      ADMIN,
      { entity, version: '1.0.0' },
      { projection: EVERYTHING },
    )
    const expected = STORED.replace('"q"', '"r"').replace('"a":"y"}', '"a":"y","y2":"2","x1":"1"}')
    assert.equal(processed![0]!.replace(entity, 'E'), expected)
  })
})
