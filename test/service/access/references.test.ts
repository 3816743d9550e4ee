/** References obey the access of the entity they lead to, on its own side, at every way in. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../../src/access/caller.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { ADMIN, EVERYTHING, documentsOf, metadataDocument, openTestService } from '../../support/service.ts'
import type { Tenant } from '../../support/shared-service.ts'
import { type Answer, BOSS, READERS, answer, callerAs, equals, idsIn, plain } from './ruled.ts'
import { onEveryStore } from '../../support/store-kind.ts'

/** Every way to ask with a projection of one's own gives the same answer. */
async function readBy(on: Tenant, caller: Caller, body: JsonObject): Promise<Answer> {
  const expected = await READERS['find']!(on, caller, body)
  for (const name of ['explain', 'stream', 'bulk', 'atomic bulk']) {
    const told = await READERS[name]!(on, caller, body)
    assert.deepEqual([told.code, told.matchCount], [expected.code, expected.matchCount], name)
    if (told.documents) assert.deepEqual(told.documents, expected.documents, name)
  }
  return expected
}

const ANN = callerAs(['clerk'], 'ann')
const BOTH: readonly Json[] = ['boss', 'clerk']
const OPEN: JsonObject = { find: BOTH, insert: BOTH, update: BOTH, delete: BOTH }
const OWN: JsonObject = { role: 'clerk', where: equals('owner', '$caller.principal') }
const SHOWN: readonly Json[] = [EVERYTHING, { field: 'kids', recursive: true }]

interface Variant {
  /** Access of the whole child entity. */
  readonly child?: JsonObject
  /** More of single fields, by name. */
  readonly childFields?: JsonObject
  readonly rootFields?: JsonObject
  readonly reference?: JsonObject
}

const STRING: JsonObject = { type: 'string' }
const CHILD: JsonObject = {
  _id: STRING,
  root: STRING,
  owner: STRING,
  name: STRING,
  rank: { type: 'integer' },
}

async function opened(variant: Variant = {}, now = () => new Date()): Promise<Tenant> {
  const on = await openTestService({ now })
  await on.define(
    'child',
    { ...CHILD, ...variant.childFields },
    { schema: { access: { ...OPEN, ...variant.child } } },
  )
  const kids = {
    type: 'reference',
    entity: 'child',
    query: { field: 'root', op: '=', rfield: '$parent.key' },
    sort: { name: '$asc' },
    ...variant.reference,
  }
  const root = { _id: STRING, key: STRING, kids, ...variant.rootFields }
  await on.define('t', root, { schema: { access: OPEN } })
  const roots = ['1', '2', '3'].map((each) => ({
    _id: each,
    key: `k${each}`,
    ...(variant.rootFields && { owner: each === '1' ? 'ann' : 'bob' }),
  }))
  const children = [
    { _id: 'a', root: 'k1', owner: 'ann', name: 'x', rank: 1 },
    { _id: 'b', root: 'k1', owner: 'bob', name: 'y', rank: 2 },
    { _id: 'c', root: 'k2', owner: 'bob', name: 'x', rank: 3 },
  ]
  assert.equal((await on.insert('child', { data: children }, BOSS)).modifiedCount, 3)
  assert.equal((await on.insert('t', { data: roots }, BOSS)).modifiedCount, 3)
  return { ...on, entity: 't' }
}

async function kidsSeen(on: Tenant, projection: Json = SHOWN): Promise<Readonly<Record<string, Json>>> {
  const told = await readBy(on, ANN, { projection })
  return Object.fromEntries(
    (told.documents ?? []).map((each) => [
      each['_id'] as string,
      ((each['kids'] ?? []) as readonly JsonObject[]).map(plain),
    ]),
  )
}

const named = (...names: readonly string[]): Json => names.map((_id) => ({ _id }))
const IDS: readonly Json[] = [{ field: '_id' }, { field: 'kids.*._id' }]

onEveryStore(() => {
  test('references: documents that may be read are joined, at every way in', async () => {
    await using on = await opened()
    assert.deepEqual(await kidsSeen(on, IDS), { 1: named('a', 'b'), 2: named('c'), 3: [] })
  })

  test('references: an entity that may not be read is left out, and refused in a query', async () => {
    await using on = await opened({ child: { find: ['boss'] } })
    assert.deepEqual(await kidsSeen(on), { 1: [], 2: [], 3: [] })
    for (const query of [equals('kids.*.name', 'x'), equals('kids#', 0), equals('kids', null)]) {
      assert.equal((await readBy(on, ANN, { query })).code, 'crud:NoAccess')
    }
  })

  test('references: documents out of sight are not joined, not counted and not found by', async () => {
    await using on = await opened({ child: { find: ['boss', OWN] } })
    assert.deepEqual(await kidsSeen(on, IDS), { 1: named('a'), 2: [], 3: [] })
    assert.deepEqual(idsIn(await readBy(on, ANN, { query: equals('kids.*.name', 'x') })), ['1'])
    assert.deepEqual(idsIn(await readBy(on, ANN, { query: equals('kids.*.name', 'y') })), [])
    assert.deepEqual(idsIn(await readBy(on, ANN, { query: equals('kids#', 1) })), ['1'])
    assert.deepEqual(idsIn(await readBy(on, ANN, { query: equals('kids', null) })), ['2', '3'])
    const not = { $not: equals('kids.*.name', 'y') }
    assert.deepEqual(idsIn(await readBy(on, ANN, { query: not })), ['1', '2', '3'])
  })

  test('references: hidden fields of the other entity are not shown, and refused in a query', async () => {
    await using on = await opened({ childFields: { rank: { type: 'integer', access: { find: ['boss'] } } } })
    const seen = await kidsSeen(on)
    assert.deepEqual(seen['2'], [{ _id: 'c', root: 'k2', owner: 'bob', name: 'x' }])
    const asked: readonly JsonObject[] = [
      { query: equals('kids.*.rank', 3) },
      { query: { array: 'kids', elemMatch: equals('rank', 3) } },
      {
        query: { field: 'kids.*.name', op: '=', rfield: 'kids.*.name' },
        projection: matching(equals('rank', 3)),
      },
      { projection: { field: 'kids', range: [0, 0], projection: EVERYTHING, sort: { rank: '$desc' } } },
    ]
    for (const body of asked)
      assert.equal((await readBy(on, ANN, body)).code, 'crud:NoAccess', JSON.stringify(body))
  })

  function matching(match: JsonObject): JsonObject {
    return { field: 'kids', match, projection: EVERYTHING }
  }

  test('references: a field that is hidden in some documents is not asked about in those', async () => {
    const rank = { type: 'integer', access: { find: ['boss', OWN] } }
    await using on = await opened({ childFields: { rank } })
    const seen = await kidsSeen(on, [{ field: '_id' }, { field: 'kids.*.rank' }, { field: 'kids.*.name' }])
    assert.deepEqual(seen, { 1: [{ name: 'x', rank: 1 }, { name: 'y' }], 2: [{ name: 'x' }], 3: [] })
    assert.deepEqual(idsIn(await readBy(on, ANN, { query: equals('kids.*.rank', 1) })), ['1'])
    assert.deepEqual(idsIn(await readBy(on, ANN, { query: equals('kids.*.rank', 3) })), [])
    // In a match of elements a value out of sight is no value.
    const found = await readBy(on, ANN, { projection: [{ field: '_id' }, matching(equals('rank', 2))] })
    assert.deepEqual(
      found.documents?.map(({ kids }) => kids),
      [undefined, undefined, undefined],
    )
  })

  test('references: what is joined by a field that is hidden on the other side is not joined', async () => {
    await using on = await opened({ childFields: { root: { type: 'string', access: { find: ['boss'] } } } })
    assert.deepEqual(await kidsSeen(on), { 1: [], 2: [], 3: [] })
    assert.equal((await readBy(on, ANN, { query: equals('kids.*.name', 'x') })).code, 'crud:NoAccess')
  })

  test('references: what is joined by a field that is hidden on this side is not joined', async () => {
    await using on = await opened({
      rootFields: { key: { type: 'string', access: { find: ['boss'] } }, owner: { type: 'string' } },
    })
    assert.deepEqual(await kidsSeen(on), { 1: [], 2: [], 3: [] })
    assert.equal((await readBy(on, ANN, { query: equals('kids.*.name', 'x') })).code, 'crud:NoAccess')
  })

  test('references: where the key of a document may not be read, nothing is joined to it', async () => {
    const key = { type: 'string', access: { find: ['boss', OWN] } }
    await using on = await opened({ rootFields: { key, owner: { type: 'string' } } })
    assert.deepEqual(await kidsSeen(on, IDS), { 1: named('a', 'b'), 2: [], 3: [] })
    assert.deepEqual(idsIn(await readBy(on, ANN, { query: equals('kids.*.name', 'x') })), ['1'])
  })

  test('references: the order of a reference does not tell of hidden fields', async () => {
    const rank = { type: 'integer', access: { find: ['boss'] } }
    await using on = await opened({ childFields: { rank }, reference: { sort: { rank: '$desc' } } })
    assert.deepEqual(await kidsSeen(on), { 1: [], 2: [], 3: [] })
  })

  test('references: the field itself may be hidden', async () => {
    await using on = await opened({ reference: { access: { find: ['boss'] } } })
    assert.deepEqual(await kidsSeen(on), { 1: [], 2: [], 3: [] })
    assert.equal((await readBy(on, ANN, { query: equals('kids#', 2) })).code, 'crud:NoAccess')
  })

  test('references: writes select by what their caller may read', async () => {
    await using on = await opened({ child: { find: ['boss', OWN] } })
    const query = equals('kids.*.name', 'x')
    const update = { $set: { key: 'changed' } }
    const updated = await on.service.data.update(
      ANN,
      { entity: 't' },
      { query, update, projection: EVERYTHING },
    )
    assert.deepEqual(idsIn(answer(updated)), ['1'])
    const other = { query: equals('kids.*.name', 'y') }
    assert.equal((await on.service.data.delete(ANN, { entity: 't' }, other)).modifiedCount, 0)
    assert.equal((await on.find('t', { projection: EVERYTHING }, BOSS)).matchCount, 3)
  })

  test('references: explain tells no rules of the other entity', async () => {
    await using on = await opened({ child: { find: ['boss', OWN] } })
    for (const body of [{ query: equals('kids#', 1), projection: EVERYTHING }, { projection: SHOWN }]) {
      const [entry] = documentsOf(await on.service.data.explain(ANN, { entity: 't' }, body))
      assert.doesNotMatch(JSON.stringify(entry), /owner|ann/)
    }
  })

  test('references: a stream ends when access to the other entity changes', async () => {
    let time = 0
    await using on = await opened({}, () => new Date((time += 1_000)))
    // Only snapshots can be replaced.
    const kid = (find: Json): JsonObject => {
      const { entityInfo, schema } = metadataDocument('kid', CHILD, {
        info: { defaultVersion: '1.0.0-SNAPSHOT' },
        schema: { version: { value: '1.0.0-SNAPSHOT', changelog: 'first' }, access: { ...OPEN, find } },
      })
      return { entityInfo: entityInfo!, schema: schema! }
    }
    const target = { entity: 'kid', version: '1.0.0-SNAPSHOT' }
    await on.service.metadata.create(ADMIN, target, kid(BOTH))
    await on.insert('kid', { data: [{ _id: 'a', root: '1' }] }, BOSS)
    const query = { field: 'root', op: '=', rfield: '$parent._id' }
    const fields = { _id: STRING, kids: { type: 'reference', entity: 'kid', query } }
    await on.define('parent', fields, { schema: { access: OPEN } })
    await on.insert('parent', { data: [{ _id: '1' }, { _id: '2' }] }, BOSS)
    const lines = await on.service.data.stream(ANN, { entity: 'parent' }, { projection: SHOWN })
    assert.ok(!('status' in lines))
    const rest = lines[Symbol.asyncIterator]()
    await rest.next()
    assert.match((await rest.next()).value as string, /"kids":/)
    await on.service.metadata.createSchema(ADMIN, target, kid(['boss'])['schema'])
    assert.match((await rest.next()).value as string, /"crud:NoAccess"/)
    await rest.return?.()
  })

  test('references: what another version stored under the name of a reference is not shown', async () => {
    await using on = await opened({ child: { find: ['boss'] }, rootFields: { kids: STRING, owner: STRING } })
    await on.insert('t', { data: [{ _id: '9', kids: 'SECRET' }] }, BOSS)
    const query = { field: 'root', op: '=', rfield: '$parent.key' }
    const kids = { type: 'reference', entity: 'child', query }
    const { schema } = metadataDocument('t', { _id: STRING, key: STRING, owner: STRING, kids })
    const version = { value: '2.0.0', changelog: 'kids refer' }
    const target = { entity: 't', version: '2.0.0' }
    await on.service.metadata.createSchema(ADMIN, target, {
      ...(schema as JsonObject),
      version,
      access: OPEN,
    })
    const response = await on.service.data.find(ANN, target, { projection: SHOWN })
    assert.equal(response.status, 'COMPLETE')
    assert.doesNotMatch(JSON.stringify(documentsOf(response)), /SECRET/)
  })

  test('references: more than can be held of one document is refused', async () => {
    await using on = await opened()
    const every = { type: 'reference', entity: 'wide' }
    const text = 'x'.repeat(100_000)
    await on.define('wide', { _id: STRING, text: STRING, every })
    await on.store(
      'wide',
      Array.from({ length: 20 }, (_, i) => ({ _id: `${i}`, text })),
    )
    const body = { query: equals('_id', '1'), projection: { field: 'every.*.every.*.every.*._id' } }
    const told = await READERS['find']!({ ...on, entity: 'wide' }, ADMIN, body)
    assert.equal(told.code, 'crud:ResultSizeTooLarge')
  })
})
