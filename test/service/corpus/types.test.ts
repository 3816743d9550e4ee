/** One path of two types in two versions: what each makes of the other's values, on every kind of store. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Json, type JsonObject, sameJson } from '../../../src/base/json/json.ts'
import { printResponse } from '../../../src/service/response.ts'
import type { Service } from '../../../src/service/service.ts'
import type { StoreKind } from '../../../src/store/store.ts'
import {
  ADMIN,
  EVERYTHING,
  codeOf,
  dataErrorCodes,
  documentsOf,
  json,
  jsonObject,
  metadataDocument,
  openServiceAt,
} from '../../support/service.ts'
import { freshPlace } from '../../support/store-kind.ts'
import { NEW, OLD, TYPES_CASES } from './types.ts'

for (const kind of ['sqlite', 'postgres'] as const) testOn(kind)

function testOn(kind: StoreKind): void {
  const stack = new AsyncDisposableStack()
  let service: Service
  let entities = 0
  before(async () => {
    const { location } = stack.use(await freshPlace(kind))
    service = stack.use(await openServiceAt(location))
  })
  after(() => stack.disposeAsync())

  const infoOf = (entity: string, version: string, indexes: Json = []): JsonObject => ({
    name: entity,
    defaultVersion: version,
    datastore: { backend: kind },
    indexes,
  })
  const define = (entity: string, value: string, fields: JsonObject, info = infoOf(entity, value)) => {
    const schema = { version: { value, changelog: 'made' } }
    return service.metadata.create(
      ADMIN,
      { entity, version: value },
      metadataDocument(entity, fields, { info, schema }),
    )
  }
  const disable = (entity: string, version: string) =>
    service.metadata.setStatus(ADMIN, { entity, version }, { status: 'disabled' })
  const fresh = (): string => `${kind}${++entities}`
  /** An entity with both versions. */
  const twoVersions = async (first: JsonObject, second: JsonObject): Promise<string> => {
    const entity = fresh()
    await define(entity, '1.0.0', first)
    await define(entity, '2.0.0', second)
    return entity
  }
  const insert = async (entity: string, version: string, documents: readonly JsonObject[]) => {
    const body = { data: [...documents], projection: EVERYTHING }
    const response = await service.data.insert(ADMIN, { entity, version }, body)
    assert.equal(response.status, 'COMPLETE', printResponse(response))
  }
  const find = (entity: string, version: string, body: JsonObject = {}) =>
    service.data.find(ADMIN, { entity, version }, { projection: EVERYTHING, ...body })
  const found = async (entity: string, version: string, body: JsonObject = {}) =>
    documentsOf(await find(entity, version, body)).map((document) => {
      const { objectType: _, ...rest } = document
      return rest
    })
  const ids = async (entity: string, version: string, body: JsonObject = {}) =>
    (await found(entity, version, body)).map((each) => each['_id'])
  const by = (field: string, rvalue: Json, op = '='): JsonObject => ({ query: { field, op, rvalue } })

  for (const { rule, version, query, sort, ...each } of TYPES_CASES) {
    test(`find: ${rule} (${kind})`, async () => {
      const entity = await twoVersions(OLD, NEW)
      const numbered = [...each.old, ...each.new].map((text, i) => ({ ...jsonObject(text), _id: String(i) }))
      await insert(entity, '1.0.0', numbered.slice(0, each.old.length))
      await insert(entity, '2.0.0', numbered.slice(each.old.length))
      const body = { ...(query !== undefined && { query }), ...(sort !== undefined && { sort }) }
      assert.deepEqual(await ids(entity, version, body), each.found.map(String))
    })
  }

  test(`find: simple values of another type are shown as they are (${kind})`, async () => {
    const entity = await twoVersions({ n: { type: 'integer' } }, { n: { type: 'string' } })
    await insert(entity, '1.0.0', [{ _id: '1', n: 5 }])
    assert.deepEqual(await found(entity, '2.0.0'), [{ _id: '1', n: 5 }])
  })

  test(`find, update, save: members of a value of another type are not shown, and kept (${kind})`, async () => {
    const inner = { type: 'object', fields: { x: { type: 'string' } } }
    const first = { a: inner, b: { type: 'array', items: inner }, c: { type: 'string' } }
    const second = { a: { type: 'string' }, b: inner, c: { type: 'string' } }
    const entity = await twoVersions(first, second)
    await insert(entity, '1.0.0', [{ _id: '1', a: { x: 'X' }, b: [{ x: 'X' }], c: 'C' }])
    assert.deepEqual(await found(entity, '2.0.0'), [{ _id: '1', c: 'C' }])
    const target = { entity, version: '2.0.0' }
    const update = { query: { $and: [] }, update: { $set: { c: 'D' } } }
    assert.equal((await service.data.update(ADMIN, target, update)).modifiedCount, 1)
    const saved = await service.data.save(ADMIN, target, { data: { _id: '1', c: 'E' } })
    assert.equal(saved.modifiedCount, 1, printResponse(saved))
    const whole = { _id: '1', a: { x: 'X' }, b: [{ x: 'X' }], 'b#': 1, c: 'E' }
    assert.ok(sameJson((await found(entity, '1.0.0'))[0], whole))
    const replaced = { query: { $and: [] }, update: { $set: { a: 'A' } } }
    assert.equal((await service.data.update(ADMIN, target, replaced)).modifiedCount, 1)
    assert.deepEqual(await found(entity, '2.0.0', { projection: { field: 'a' } }), [{ a: 'A' }])
  })

  test(`update: values of another type are converted without loss, or the document is refused (${kind})`, async () => {
    const first = { n: { type: 'string' }, c: { type: 'string' } }
    const entity = await twoVersions(first, { ...first, n: { type: 'integer' } })
    await insert(entity, '1.0.0', [
      { _id: '1', n: '5' },
      { _id: '2', n: 'abc' },
    ])
    const body = { query: { $and: [] }, update: { $set: { c: 'D' } } }
    const response = await service.data.update(ADMIN, { entity, version: '2.0.0' }, body)
    assert.deepEqual(dataErrorCodes(response), [['metadata:IncompatibleValue']])
    assert.deepEqual(await found(entity, '2.0.0'), [
      { _id: '1', n: 5, c: 'D' },
      { _id: '2', n: 'abc' },
    ])
  })

  test(`find: an index over a field serves what fits, whatever disabled versions left there (${kind})`, async () => {
    const entity = fresh()
    const l = (type: string): JsonObject => ({ type: 'array', items: { type } })
    await define(entity, '1.0.0', { n: { type: 'integer' }, l: l('integer') })
    await insert(entity, '1.0.0', [
      { _id: '1', n: 5, l: [5] },
      { _id: '2', n: 6, l: [6] },
    ])
    await define(entity, '2.0.0', { n: { type: 'string' }, l: l('string') })
    await disable(entity, '1.0.0')
    const indexes = [{ fields: [{ field: 'n' }] }, { fields: [{ field: 'l.*' }] }]
    await service.metadata.updateInfo(ADMIN, entity, infoOf(entity, '2.0.0', indexes))
    await insert(entity, '2.0.0', [{ _id: '3', n: '5', l: ['5'] }])
    assert.deepEqual(await ids(entity, '2.0.0', by('n', '5')), ['3'])
    assert.deepEqual(await ids(entity, '2.0.0', by('l.*', '5')), ['3'])
    assert.deepEqual(await ids(entity, '2.0.0', by('l.*', '', '>=')), ['3'])
    assert.deepEqual(await ids(entity, '2.0.0', { sort: { n: '$desc' } }), ['3', '1', '2'])
    assert.deepEqual(await ids(entity, '2.0.0', by('n', null)), ['1', '2'])
  })

  test(`insert: a unique index does not hold values that do not fit against others (${kind})`, async () => {
    const entity = fresh()
    await define(entity, '1.0.0', { n: { type: 'boolean' } })
    await insert(entity, '1.0.0', [
      { _id: '1', n: true },
      { _id: '2', n: true },
    ])
    await define(entity, '2.0.0', { n: { type: 'integer' } })
    await disable(entity, '1.0.0')
    const unique = [{ unique: true, fields: [{ field: 'n' }] }]
    await service.metadata.updateInfo(ADMIN, entity, infoOf(entity, '2.0.0', unique))
    await insert(entity, '2.0.0', [{ _id: '3', n: 1 }])
    const again = await service.data.insert(ADMIN, { entity, version: '2.0.0' }, { data: { _id: '4', n: 1 } })
    assert.deepEqual(dataErrorCodes(again), [['store-crud:Duplicate']])
  })

  test(`find: a collection remembers what versions stored that are gone (${kind})`, async () => {
    const entity = fresh()
    await define(entity, '1.0.0-SNAPSHOT', { n: { type: 'integer' } })
    await insert(entity, '1.0.0-SNAPSHOT', [{ _id: '1', n: 5 }])
    await define(entity, '1.0.0-SNAPSHOT', { n: { type: 'string' } })
    await insert(entity, '1.0.0-SNAPSHOT', [{ _id: '2', n: '5' }])
    assert.deepEqual(await ids(entity, '1.0.0-SNAPSHOT', by('n', '5')), ['2'])
    await service.metadata.clearDefault(ADMIN, entity)
    await disable(entity, '1.0.0-SNAPSHOT')
    await service.metadata.remove(ADMIN, entity, { documents: 'keep' })
    await define(entity, '2.0.0', { n: { type: 'boolean' } })
    await insert(entity, '2.0.0', [{ _id: '3', n: true }])
    assert.deepEqual(await ids(entity, '2.0.0', by('n', null)), ['1', '2'])
  })

  test(`find: references join values that fit, and what does not fit as null (${kind})`, async () => {
    const customer = fresh()
    const byNumber = (rfield: string): JsonObject => ({
      type: 'reference',
      entity: customer,
      query: { field: 'number', op: '=', rfield },
    })
    await define(customer, '1.0.0', { number: { type: 'integer' } })
    const entity = await twoVersions(
      { n: { type: 'integer' }, who: byNumber('$parent.n') },
      { n: { type: 'string' } },
    )
    await insert(customer, '1.0.0', [
      { _id: 'five', number: 5 },
      { _id: 'none' },
      { _id: 'big', number: json('9007199254740993') },
    ])
    await insert(entity, '1.0.0', [
      { _id: '1', n: 5 },
      { _id: '2', n: json('9007199254740993') },
    ])
    await insert(entity, '2.0.0', [{ _id: '3', n: '5' }])
    const projection = [{ field: '_id' }, { field: 'who.*._id' }]
    const expected = [
      { _id: '1', who: [{ _id: 'five' }] },
      { _id: '2', who: [{ _id: 'big' }] },
      { _id: '3', who: [{ _id: 'none' }] },
    ]
    const check = async (): Promise<void> => {
      const documents = await found(entity, '1.0.0', { projection })
      assert.deepEqual(
        documents.map(({ _id, who }) => ({ _id, who })),
        expected,
      )
      assert.deepEqual(await ids(entity, '1.0.0', by('who.*._id', 'five')), ['1'])
      assert.deepEqual(await ids(entity, '1.0.0', by('who.*._id', 'none')), ['3'])
      assert.deepEqual(await ids(entity, '1.0.0', by('who.*.number', json('9007199254740993'))), ['2'])
    }
    await check()
    const indexes = [{ fields: [{ field: 'number' }] }]
    await service.metadata.updateInfo(ADMIN, customer, infoOf(customer, '1.0.0', indexes))
    await check()
  })

  test(`create: versions cannot disagree about the type of _id (${kind})`, async () => {
    const entity = fresh()
    await define(entity, '1.0.0', { _id: { type: 'integer' } })
    const refused = async (code: string): Promise<void> => {
      await assert.rejects(define(entity, '2.0.0', { _id: { type: 'string' } }), (error: JsonObject) => {
        assert.equal(error['code'], code)
        return true
      })
    }
    await refused('metadata:InvalidIndex')
    await service.metadata.clearDefault(ADMIN, entity)
    await disable(entity, '1.0.0')
    await refused('metadata:FieldWrongType')
    assert.equal(codeOf(await find(entity, '2.0.0')), 'crud:UnknownEntity')
  })
}
