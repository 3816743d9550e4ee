/** Row 6: explain is a find by another name, and tells nothing that a find would not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ENTRY_POINTS, type EntryPoint, type Parts } from './entry-points.ts'
import { BOSS, CLERK, assertNoSecret, openOffice } from './office.ts'
import { onEveryStore } from '../../support/store-kind.ts'

onEveryStore(() => {
  const office = openOffice()
  const EXPLAINS: readonly EntryPoint[] = ENTRY_POINTS.filter(({ name }) => name.includes('explain'))

  async function explain({ send, name }: EntryPoint, parts: Parts, roles: readonly string[]) {
    const sent = await send(office(), parts, roles)
    assert.ok(sent, name)
    return sent
  }

  test('explain: without a role that may find it is refused at every entry point', async () => {
    assert.equal(EXPLAINS.length, 14)
    for (const point of EXPLAINS) {
      for (const roles of [[], ['stranger'], ['anyone']]) {
        const { code, response } = await explain(point, {}, roles)
        assert.equal(code, 'crud:NoAccess', point.name)
        assert.deepEqual([response['processed'], response['matchCount']], [undefined, 0], point.name)
      }
    }
  })

  test('explain: tells no stored value, no hidden field, and no literal but those of the caller', async () => {
    const query = { field: 'name', op: '=', rvalue: 'name 1' }
    for (const point of EXPLAINS) {
      const { text, response } = await explain(point, { query }, CLERK)
      assert.deepEqual([response['status'], response['matchCount']], ['COMPLETE', 1], text)
      assertNoSecret(text, point.name)
      assert.doesNotMatch(text, /ssn|codes|vault|\bpin\b|\bpay\b|cost/, point.name)
      assert.doesNotMatch(text, /name [23]/, point.name)
    }
  })

  test('explain: is told alike whatever is stored in what is hidden', async () => {
    const told = async () => {
      const texts = []
      for (const point of EXPLAINS) {
        const { text } = await explain(point, { sort: { n: '$asc' } }, CLERK)
        texts.push(text.replaceAll(/"executionTimeMillis":\d+/g, ''))
      }
      return texts
    }
    const before = await told()
    const body = {
      query: { field: '_id', op: '=', rvalue: '1' },
      update: { $set: { ssn: 'other', pay: 1, codes: [], 'box.pin': null } },
    }
    const changed = await office().ask('POST', '/data/update/person', { body, roles: BOSS })
    assert.equal(changed.json.modifiedCount, 1)
    assert.deepEqual(await told(), before)
  })
})
