/** An explanation says nothing of what other callers do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { ADMIN, openTestService } from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const TARGET = { entity: 'item' }
const GROUPS = { groupBy: ['tags.0'] }

onEveryStore((kind) => {
  test('explain: an aggregate is explained alike before and after others were computed', async () => {
    await using tester = await openTestService()
    const { data } = tester.service
    await tester.define('item', { tags: { type: 'array', items: { type: 'string' } } })
    await tester.store('item', [{ tags: ['a'] }, { tags: ['b'] }])
    const explained = async (): Promise<Json> => {
      const { processed = [] } = await data.explain(ADMIN, TARGET, GROUPS)
      const { query } = (JSON.parse(processed[0]!) as JsonObject)[kind] as JsonObject
      return query!
    }
    const before = await explained()
    for (let i = 0; i < 3; i++) {
      assert.equal((await data.aggregate(ADMIN, TARGET, GROUPS)).matchCount, 2)
      assert.deepEqual(await explained(), before)
    }
  })
})
