/** Runs the tables about references on every placing of the entities, and what cannot be told by a table. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { type DataResponse, printResponse } from '../../../src/service/response.ts'
import { PLACINGS, type ReferencesService, openReferencesService } from '../../support/references-service.ts'
import { ADMIN, ANYONE, callerWith, codeOf, documentsOf } from '../../support/service.ts'
import { ENTITIES, type Held } from './references-entities.ts'
import { FOUND } from './references-found.ts'
import { COUNTS } from './references-counts.ts'
import { SORTS } from './references-sorts.ts'
import { VECTORS } from './references-vectors.ts'

async function hold(tester: ReferencesService, entities: Readonly<Record<string, Held>>): Promise<void> {
  await tester.define(
    Object.entries(entities).map(([name, { fields, info }]) => ({ name, fields, ...(info && { info }) })),
  )
  for (const [name, { documents }] of Object.entries(entities)) await tester.store(name, documents)
}

function find({ service }: ReferencesService, entity: string, body: JsonObject): Promise<DataResponse> {
  return service.data.find(ADMIN, { entity }, body)
}

const is = (field: string, rvalue: string): JsonObject => ({ field, op: '=', rvalue })
const IDS = { projection: { field: '_id' }, sort: { _id: '$asc' } }

for (const placing of PLACINGS) {
  describe(placing.name, () => {
    let tester: ReferencesService
    before(async () => {
      tester = await openReferencesService(placing)
      await hold(tester, ENTITIES)
    })
    after(() => tester[Symbol.asyncDispose]())

    for (const { rule, entity, body, answer, matchCount } of [...VECTORS, ...SORTS, ...COUNTS]) {
      test(`references: ${rule}`, async () => {
        const response = await find(tester, entity, body)
        if (typeof answer === 'string') return assert.equal(codeOf(response), answer)
        assert.deepEqual(documentsOf(response), answer, printResponse(response))
        assert.equal(response.matchCount, matchCount ?? answer.length)
        assert.equal(response.resultMetadata?.length, answer.length)
      })
    }

    for (const { entities, cases } of FOUND) {
      test('references: differences that were found once', async (t) => {
        await using own = await openReferencesService(placing)
        await hold(own, entities)
        for (const { rule, entity, body, answer } of cases) {
          await t.test(`references: ${rule}`, async () => {
            const response = await find(own, entity, body)
            assert.deepEqual(documentsOf(response), answer, printResponse(response))
          })
        }
      })
    }

    test('references: what names one, or a virtual field, is refused by the code of its place', async () => {
      const leaf = { type: 'reference', entity: 'named', query: is('_id', 'x') }
      const virtual = { type: 'string', documentVersion: true }
      const fields = { _id: { type: 'string' }, s: { type: 'string' }, virtual, leaf }
      await tester.define([{ name: 'named', fields }])
      const { data } = tester.service
      const updates: readonly JsonObject[] = [
        { $set: { leaf: [] } },
        { $set: { 'leaf.0.s': 'x' } },
        { $unset: 'leaf' },
        { $append: { leaf: {} } },
        { $foreach: { leaf: '$all', $update: '$remove' } },
        { $set: { s: { $valueof: 'leaf.0.s' } } },
        { $set: { virtual: 'x' } },
        { $set: { s: { $valueof: 'virtual' } } },
      ]
      for (const update of updates) {
        const response = await data.update(ADMIN, { entity: 'named' }, { query: { $and: [] }, update })
        assert.equal(codeOf(response), 'query-api:InvalidUpdate', JSON.stringify(update))
      }
      const projected = await find(tester, 'named', { projection: { field: 'virtual', range: [0, 1] } })
      assert.equal(codeOf(projected), 'query-api:InvalidProjection')
      for (const field of ['leaf', 'leaf.*.s', 'virtual']) {
        const response = await data.generate(ADMIN, { entity: 'named' }, field, undefined)
        assert.equal(codeOf(response), 'crud:InvalidRequest', field)
      }
    })

    test('references: 17: one version of an entity in a request, its own among them', async () => {
      const { service } = tester
      const to = (versionValue?: string): JsonObject => ({
        type: 'reference',
        entity: 'self',
        query: { field: '_id', op: '=', rfield: '$parent._id' },
        ...(versionValue !== undefined && { versionValue }),
      })
      const fields = { _id: { type: 'string' }, same: to('1.0.0'), any: to(), before: to('0.1.0') }
      await tester.define([{ name: 'self', fields }])
      await tester.store('self', [{ _id: 's1' }])
      const ask = (field: string): Promise<DataResponse> =>
        service.data.find(ADMIN, { entity: 'self', version: '1.0.0' }, { projection: { field } })
      assert.deepEqual(documentsOf(await ask('same.*._id')), [{ same: [{ _id: 's1' }] }])
      assert.deepEqual(documentsOf(await ask('any.*._id')), [{ any: [{ _id: 's1' }] }])
      assert.equal(codeOf(await ask('before.*._id')), 'crud:MetadataAppearsTwice')
    })

    test('references: 19: what the caller may not read (in the ancestor all was refused)', async () => {
      const access = { ...ANYONE, find: ['insider'] }
      const secret = {
        type: 'reference',
        entity: 'hidden',
        query: { field: '_id', op: '=', rfield: '$parent._id' },
      }
      await tester.define([
        { name: 'open', fields: { _id: { type: 'string' }, secret } },
        { name: 'hidden', fields: { _id: { type: 'string' } }, schema: { access } },
      ])
      await tester.store('open', [{ _id: 'x' }])
      await tester.service.data.insert(callerWith('insider'), { entity: 'hidden' }, { data: [{ _id: 'x' }] })
      const ask = (body: JsonObject, ...roles: readonly string[]): Promise<DataResponse> =>
        tester.service.data.find(callerWith(...roles), { entity: 'open' }, body)
      const shown = { projection: [{ field: '_id' }, { field: 'secret.*._id' }] }
      const asked = { query: is('secret.*._id', 'x'), projection: { field: '_id' } }
      assert.deepEqual(documentsOf(await ask(shown)), [{ _id: 'x' }])
      assert.deepEqual(documentsOf(await ask(shown, 'insider')), [{ _id: 'x', secret: [{ _id: 'x' }] }])
      assert.equal(codeOf(await ask(asked)), 'crud:NoAccess')
      assert.deepEqual(documentsOf(await ask(asked, 'insider')), [{ _id: 'x' }])
    })

    test('references: 20, P23: update and delete select by references', async () => {
      const { service } = tester
      const query = is('works_at.*.town', 'Oslo')
      const body = { query, update: { $set: { name: 'changed' } }, projection: { field: '_id' } }
      const updated = await service.data.update(ADMIN, { entity: 'person' }, body)
      assert.equal(updated.modifiedCount, 2, printResponse(updated))
      const changed = await find(tester, 'person', { query: is('name', 'changed'), ...IDS })
      assert.deepEqual(documentsOf(changed), [{ _id: 'p3' }, { _id: 'p4' }])
      const removed = await service.data.delete(ADMIN, { entity: 'person' }, { query })
      assert.equal(removed.modifiedCount, 2, printResponse(removed))
      const left = await find(tester, 'person', IDS)
      assert.deepEqual(documentsOf(left), [{ _id: 'p1' }, { _id: 'p2' }, { _id: 'p5' }, { _id: 'p6' }])
      const none = await service.data.delete(ADMIN, { entity: 'person' }, { query })
      assert.deepEqual([none.status, none.modifiedCount], ['COMPLETE', 0])
    })

    test('references: 21, P3: what is joined counts toward the size of the result (the ancestor told of memory)', async () => {
      await using own = await openReferencesService(placing, { limits: { resultBytes: 100 } })
      const { A, B, C, D } = ENTITIES
      const few: Readonly<Record<string, Held>> = { A: A!, B: B!, C: C!, D: D! }
      await own.define(Object.entries(few).map(([name, { fields }]) => ({ name, fields })))
      for (const [name, { documents }] of Object.entries(few)) {
        for (const document of documents)
          await own.service.data.insert(ADMIN, { entity: name }, { data: document })
      }
      const ask = (field: string): Promise<DataResponse> =>
        find(own, 'A', { query: is('_id', 'A01'), projection: { field, recursive: true } })
      assert.equal((await ask('b_ref')).status, 'COMPLETE')
      assert.equal(codeOf(await ask('in_b')), 'crud:ResultSizeTooLarge')
    })

    test('references: P5: a stream shows what is joined, and finds by it', async () => {
      const stream = await tester.service.data.stream(
        ADMIN,
        { entity: 'A' },
        {
          query: { field: 'b.*.field1', op: '$in', values: ['x1', 'x2'] },
          projection: [{ field: '_id' }, { field: 'b.*.field1' }],
          sort: { _id: '$asc' },
        },
      )
      assert.ok(Symbol.asyncIterator in stream, JSON.stringify(stream))
      const lines: string[] = []
      for await (const line of stream) lines.push(line)
      const shown = lines
        .map((line) => (JSON.parse(line) as JsonObject)['processed'])
        .filter((each) => each !== undefined)
      assert.deepEqual(shown, [
        { _id: 'A01', b: [{ field1: 'x1' }] },
        { _id: 'A02', b: [{ field1: 'x2' }] },
      ])
    })

    test('references: P21: answers to writes show the document alone', async () => {
      const { service } = tester
      const projection = [{ field: '_id' }, { field: 'b.*.field1' }]
      const data = { _id: 'A99', b_ref: 'B01' }
      const inserted = await service.data.insert(ADMIN, { entity: 'A' }, { data, projection })
      assert.deepEqual(documentsOf(inserted), [{ _id: 'A99' }], printResponse(inserted))
      const query = { $and: [is('_id', 'A99'), is('b.*.field1', 'x1')] }
      const body = { query, update: { $set: { b_ref: 'B02' } }, projection }
      const updated = await service.data.update(ADMIN, { entity: 'A' }, body)
      assert.deepEqual(documentsOf(updated), [{ _id: 'A99' }], printResponse(updated))
      const found = await find(tester, 'A', { query: is('_id', 'A99'), projection })
      assert.deepEqual(documentsOf(found), [{ _id: 'A99', b: [{ field1: 'x2' }] }])
    })

    test('references: P22: conditions inside of an update are refused where they lead away', async () => {
      const update = { $foreach: { 'level1.arr1': is('ref.*.field1', 'bdeep1'), $update: '$remove' } }
      const body = { query: is('_id', 'ADEEP'), update, projection: { field: '_id' } }
      const response = await tester.service.data.update(ADMIN, { entity: 'A' }, body)
      assert.equal(response.status, 'ERROR', printResponse(response))
    })
  })
}
