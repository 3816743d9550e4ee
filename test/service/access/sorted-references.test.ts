/** Sorts through references tell nothing of what the caller may not read, at every way in. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { openTestService } from '../../support/service.ts'
import type { Tenant } from '../../support/shared-service.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { BOSS, idsIn, readBy } from './ruled.ts'
import { ANN, HIDDEN, OPEN, OWN, OWN_ONLY, STRING } from './ruled-references.ts'

interface Variant {
  /** Access of the whole target entity. */
  readonly target?: JsonObject
  /** More of single fields, by name. */
  readonly targetFields?: JsonObject
  readonly rootFields?: JsonObject
  readonly reference?: JsonObject
}

/** Documents 1, 2 and 3 lead to targets c, b and a: those of 1 and 3 belong to ann. */
async function opened({ target, targetFields, rootFields, reference }: Variant = {}): Promise<Tenant> {
  const on = await openTestService()
  const fields = { _id: STRING, owner: STRING, name: STRING, place: STRING, ...targetFields }
  const next = {
    type: 'reference',
    entity: 'target',
    query: { field: '_id', op: '=', rfield: '$parent.place' },
  }
  await on.define('target', { ...fields, next }, { schema: { access: { ...OPEN, ...target } } })
  const to = { type: 'reference', entity: 'target', query: { field: '_id', op: '=', rfield: '$parent.key' } }
  const all = {
    type: 'reference',
    entity: 'target',
    query: { field: 'place', op: '=', rfield: '$parent.place' },
  }
  const root = { _id: STRING, key: STRING, owner: STRING, place: STRING, to: { ...to, ...reference }, all }
  await on.define('t', { ...root, ...rootFields }, { schema: { access: OPEN } })
  const targets = [
    { _id: 'c', owner: 'ann', name: 'x', place: 'b' },
    { _id: 'b', owner: 'bob', name: 'y', place: 'b' },
    { _id: 'a', owner: 'ann', name: 'z', place: 'c' },
  ]
  const roots = [
    { _id: '1', key: 'c', owner: 'ann', place: 'b' },
    { _id: '2', key: 'b', owner: 'bob', place: 'c' },
    { _id: '3', key: 'a', owner: 'ann' },
  ]
  assert.equal((await on.insert('target', { data: targets }, BOSS)).modifiedCount, 3)
  assert.equal((await on.insert('t', { data: roots }, BOSS)).modifiedCount, 3)
  return { ...on, entity: 't' }
}

const by = (path: string, direction = '$desc'): JsonObject => ({ sort: { [path]: direction } })

onEveryStore(() => {
  test('sort through a reference: in the same order at every way in', async () => {
    await using on = await opened()
    assert.deepEqual(idsIn(await readBy(on, ANN, by('to.*.name'))), ['3', '2', '1'])
    assert.deepEqual(idsIn(await readBy(on, ANN, by('to.*.next.*.name'))), ['1', '2', '3'])
    assert.deepEqual(idsIn(await readBy(on, ANN, by('all#'))), ['1', '2', '3'])
    assert.deepEqual(idsIn(await readBy(on, ANN, by('to.*.next#', '$asc'))), ['1', '2', '3'])
  })

  test('sort through a reference: a document that a row rule hides counts as none', async () => {
    await using on = await opened({ target: { find: ['boss', OWN] } })
    assert.deepEqual(idsIn(await readBy(on, ANN, by('to.*.name'))), ['3', '1', '2'])
    assert.deepEqual(idsIn(await readBy(on, ANN, by('to.*.name', '$asc'))), ['2', '1', '3'])
    // Behind the target of 1 is one that is hidden, and behind the hidden target of 2 is none.
    assert.deepEqual(idsIn(await readBy(on, ANN, by('to.*.next.*.name'))), ['3', '1', '2'])
    assert.deepEqual(idsIn(await readBy(on, ANN, by('all#', '$asc'))), ['3', '1', '2'])
    assert.deepEqual(idsIn(await readBy(on, BOSS, by('to.*.name'))), ['3', '2', '1'])
  })

  test('sort through a reference: a field that a row rule hides counts as null', async () => {
    await using on = await opened({ targetFields: { name: { ...STRING, ...OWN_ONLY } } })
    assert.deepEqual(idsIn(await readBy(on, ANN, by('to.*.name'))), ['3', '1', '2'])
    assert.deepEqual(idsIn(await readBy(on, ANN, by('to.*.place'))), ['3', '1', '2'])
  })

  test('sort through a reference: a row rule of the way narrows the documents, as for any field', async () => {
    for (const variant of [{ rootFields: { key: { ...STRING, ...OWN_ONLY } } }, { reference: OWN_ONLY }]) {
      await using on = await opened(variant)
      assert.deepEqual(idsIn(await readBy(on, ANN, by('to.*.name'))), ['3', '1'])
      assert.deepEqual(idsIn(await readBy(on, BOSS, by('to.*.name'))), ['3', '2', '1'])
    }
  })

  const refused: readonly (readonly [string, string, Variant])[] = [
    ['a hidden field', 'to.*.name', { targetFields: { name: { ...STRING, ...HIDDEN } } }],
    [
      'a hidden field of the join in the other document',
      'to.*.name',
      { targetFields: { _id: { ...STRING, ...HIDDEN } } },
    ],
    [
      'a hidden field of the join in the document',
      'to.*.name',
      { rootFields: { key: { ...STRING, ...HIDDEN } } },
    ],
    ['a hidden field on the way', 'to.*.next.*.name', { targetFields: { place: { ...STRING, ...HIDDEN } } }],
    ['a hidden reference', 'to.*.name', { reference: HIDDEN }],
    ['the number of documents of a hidden reference', 'to#', { reference: HIDDEN }],
    [
      'a number of documents by a hidden field',
      'all#',
      { targetFields: { place: { ...STRING, ...HIDDEN } } },
    ],
    ['documents of a hidden entity', 'to.*.name', { target: { find: ['boss'] } }],
    ['the number of documents of a hidden entity', 'to#', { target: { find: ['boss'] } }],
  ]
  for (const [what, path, variant] of refused) {
    test(`sort through a reference: refuses ${what}`, async () => {
      await using on = await opened(variant)
      assert.equal((await readBy(on, ANN, by(path))).code, 'crud:NoAccess')
      assert.equal((await readBy(on, BOSS, by(path))).documents?.length, 3)
    })
  }

  test('sort through a reference: explain shows no statement where row rules narrow the other documents', async () => {
    await using on = await opened({ target: { find: ['boss', OWN] } })
    const body = { projection: { field: '_id' }, ...by('to.*.name') }
    const told = await on.service.data.explain(ANN, { entity: 't' }, body)
    assert.equal(told.status, 'COMPLETE')
    assert.match(String(told.processed?.[0]), /"sql":""/)
  })
})
