/** Optimistic concurrency, sequences, and updates that meet. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataErrorCodes, documentsOf } from '../../support/service.ts'
import { type Tenant, openTenant } from '../../support/shared-service.ts'
import { counts, held, update, versionsOf } from './writing.ts'
import { onEveryStore } from '../../support/store-kind.ts'

async function open(): Promise<Tenant> {
  const tester = await openTenant()
  await tester.define(tester.entity, { i: { type: 'integer' } })
  await tester.store(tester.entity, [
    { _id: '1', i: 1 },
    { _id: '2', i: 2 },
    { _id: 'a:b', i: 3 },
  ])
  return tester
}

onEveryStore(() => {
  test('onlyIfCurrent: listed and current is written, unlisted left alone, stale refused', async () => {
    await using tester = await open()
    const [first, second] = await versionsOf(tester)
    await update(tester, { query: { field: 'i', op: '=', rvalue: 2 }, update: { $add: { i: 10 } } })
    const body = { update: { $add: { i: 100 } }, onlyIfCurrent: true, documentVersions: [first!, second!] }
    const response = await update(tester, body)
    assert.deepEqual(counts(response), ['PARTIAL', 2, 1])
    assert.deepEqual(dataErrorCodes(response), [['store-crud:ConcurrentUpdate']])
    assert.deepEqual(
      documentsOf(response).map(({ _id }) => _id),
      ['1'],
    )
    assert.deepEqual(
      Object.values(await held(tester)).map(({ i }) => i),
      [101, 12, 3],
    )
  })

  test('onlyIfCurrent: the answer holds the version for the next time', async () => {
    await using tester = await open()
    let [version] = await versionsOf(tester)
    for (let i = 0; i < 3; i++) {
      const body = { update: { $add: { i: 1 } }, onlyIfCurrent: true, documentVersions: [version!] }
      const response = await update(tester, body)
      assert.deepEqual(counts(response), ['COMPLETE', 1, 1])
      const next = JSON.parse(response.resultMetadata![0]!) as { documentVersion: string }
      assert.notEqual(next.documentVersion, version)
      version = next.documentVersion
    }
    assert.deepEqual([version], (await versionsOf(tester)).slice(0, 1))
  })

  test('onlyIfCurrent: an _id may hold colons', async () => {
    await using tester = await open()
    const [, , third] = await versionsOf(tester)
    const body = { update: { $set: { i: 9 } }, onlyIfCurrent: true, documentVersions: [third!] }
    assert.deepEqual(counts(await update(tester, body)), ['COMPLETE', 1, 1])
    assert.deepEqual(counts(await update(tester, body)), ['ERROR', 1, 0])
  })

  test('update: many at once lose nothing', async () => {
    await using tester = await open()
    await Promise.all(Array.from({ length: 50 }, () => update(tester, { update: { $add: { i: 1 } } })))
    assert.deepEqual(
      Object.values(await held(tester)).map(({ i }) => i),
      [51, 52, 53],
    )
  })

  test('sequences: values handed out side by side are all different', async () => {
    await using tester = await openTenant()
    const configuration = { name: 'numbers', initialValue: 100, increment: 3 }
    await tester.define(tester.entity, {
      n: {
        type: 'integer',
        constraints: { required: true },
        valueGenerator: { type: 'IntSequence', configuration },
      },
    })
    await Promise.all(Array.from({ length: 50 }, () => tester.insert(tester.entity, { data: [{}, {}] })))
    const numbers = Object.values(await held(tester)).map(({ n }) => n as number)
    assert.equal(new Set(numbers).size, 100)
    assert.ok(numbers.every((n) => n >= 100 && (n - 100) % 3 === 0))
  })
})
