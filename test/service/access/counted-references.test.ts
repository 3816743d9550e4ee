/** Numbers of joined documents in projections count only what the caller may read, at every way in. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { ADMIN, documentsOf, metadataDocument, openTestService } from '../../support/service.ts'
import type { Tenant } from '../../support/shared-service.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { BOSS, READERS } from './ruled.ts'
import { ANN, HIDDEN, OPEN, OWN, OWN_ONLY, STRING } from './ruled-references.ts'

interface Variant {
  readonly child?: JsonObject
  readonly childFields?: JsonObject
  readonly rootFields?: JsonObject
  /** More of the reference to the children, and of that of each child to its siblings. */
  readonly kids?: JsonObject
  readonly siblings?: JsonObject
}

async function opened(variant: Variant = {}): Promise<Tenant> {
  const on = await openTestService()
  const by = (rfield: string, more: JsonObject = {}): JsonObject => ({
    type: 'reference',
    entity: 'child',
    query: { field: 'root', op: '=', rfield },
    sort: { _id: '$asc' },
    ...more,
  })
  const child = { _id: STRING, root: STRING, owner: STRING, siblings: by('$parent.root', variant.siblings) }
  await on.define(
    'child',
    { ...child, ...variant.childFields },
    { schema: { access: { ...OPEN, ...variant.child } } },
  )
  const root = { _id: STRING, owner: STRING, kids: by('$parent._id', variant.kids), ...variant.rootFields }
  await on.define('t', root, { schema: { access: OPEN } })
  const children = [
    { _id: 'a', root: '1', owner: 'ann' },
    { _id: 'b', root: '1', owner: 'bob' },
    { _id: 'c', root: '2', owner: 'bob' },
  ]
  const roots = ['1', '2', '3'].map((_id) => ({ _id, owner: _id === '1' ? 'ann' : 'bob' }))
  assert.equal((await on.insert('child', { data: children }, BOSS)).modifiedCount, 3)
  assert.equal((await on.insert('t', { data: roots }, BOSS)).modifiedCount, 3)
  return { ...on, entity: 't' }
}

/** What is shown, the same at every way in. */
async function shown(on: Tenant, ...fields: readonly string[]): Promise<readonly JsonObject[]> {
  const body = { projection: fields.map((field) => ({ field })) }
  const { documents = [] } = await READERS['find']!(on, ANN, body)
  for (const name of ['stream', 'bulk', 'atomic bulk']) {
    assert.deepEqual((await READERS[name]!(on, ANN, body)).documents, documents, name)
  }
  return documents
}

const numbers = (...counts: readonly (number | undefined)[]): readonly JsonObject[] =>
  counts.map((count, i) => ({ _id: String(i + 1), ...(count !== undefined && { 'kids#': count }) }))

onEveryStore(() => {
  test('number of documents: at every way in', async () => {
    await using on = await opened()
    assert.deepEqual(await shown(on, '_id', 'kids#'), numbers(2, 1, 0))
  })

  test('number of documents: those that row rules hide do not count', async () => {
    await using on = await opened({ child: { find: ['boss', OWN] } })
    assert.deepEqual(await shown(on, '_id', 'kids#'), numbers(1, 0, 0))
    assert.deepEqual(await shown(on, 'kids.*._id', 'kids.*.siblings#'), [
      { kids: [{ _id: 'a', 'siblings#': 1 }] },
      {},
      {},
    ])
  })

  for (const [what, variant] of [
    ['the entity', { child: { find: ['boss'] } }],
    ['the reference', { kids: HIDDEN }],
    ['a field of the join', { childFields: { root: { ...STRING, ...HIDDEN } } }],
  ] as const) {
    test(`number of documents: left out where ${what} is hidden`, async () => {
      await using on = await opened(variant)
      assert.deepEqual(await shown(on, '_id', 'kids#'), numbers(undefined, undefined, undefined))
    })
  }

  test('number of documents: left out of documents in which the reference is hidden', async () => {
    await using on = await opened({ kids: OWN_ONLY, siblings: OWN_ONLY })
    assert.deepEqual(await shown(on, '_id', 'kids#'), numbers(2, undefined, undefined))
    assert.deepEqual((await shown(on, 'kids.*._id', 'kids.*.siblings#'))[0], {
      kids: [{ _id: 'a', 'siblings#': 2 }, { _id: 'b' }],
    })
  })

  test('number of documents: left out of documents in which a field of the join is hidden', async () => {
    const key = {
      type: 'reference',
      entity: 'child',
      query: { field: 'root', op: '=', rfield: '$parent.key' },
    }
    await using on = await opened({ rootFields: { key: { ...STRING, ...OWN_ONLY }, kids: key } })
    const update = { query: { $and: [] }, update: { $set: { key: { $valueof: '_id' } } } }
    assert.equal((await on.service.data.update(BOSS, { entity: 't' }, update)).modifiedCount, 3)
    assert.deepEqual(await shown(on, '_id', 'kids#'), numbers(2, undefined, undefined))
    assert.deepEqual(await shown(on, 'kids.*._id'), [{ kids: [{ _id: 'a' }, { _id: 'b' }] }, {}, {}])
  })

  test('number of documents: elements are not matched by one that is hidden', async () => {
    await using on = await opened({ siblings: HIDDEN })
    const match = { field: 'siblings#', op: '>', rvalue: 0 }
    const told = await READERS['find']!(on, ANN, { projection: [{ field: 'kids', match }] })
    assert.equal(told.code, 'crud:NoAccess')
  })

  test('number of documents: never the size of an array that another version stored', async () => {
    await using on = await openTestService()
    const kids = (find: readonly Json[]): JsonObject => ({
      type: 'reference',
      entity: 't',
      query: { field: '_id', op: '=', rfield: '$parent.none' },
      access: { find },
    })
    await on.define('t', { _id: STRING, none: STRING, kids: { type: 'array', items: STRING } })
    await on.store('t', [{ _id: '1', kids: ['x', 'y', 'z'] }])
    for (const [version, find] of [
      ['2.0.0', ['anyone']],
      ['3.0.0', ['boss']],
    ] as const) {
      const fields = { _id: STRING, none: STRING, kids: kids(find) }
      const more = { schema: { version: { value: version, changelog: 'a reference' } } }
      await on.service.metadata.create(ADMIN, { entity: 't', version }, metadataDocument('t', fields, more))
    }
    const find = (version: string, ...fields: readonly string[]) =>
      on.service.data.find(ANN, { entity: 't', version }, { projection: fields.map((field) => ({ field })) })
    assert.deepEqual(documentsOf(await find('2.0.0', '_id', 'kids#')), [{ _id: '1', 'kids#': 0 }])
    assert.deepEqual(documentsOf(await find('3.0.0', '*', 'kids#')), [{ _id: '1', objectType: 't' }])
  })
})
