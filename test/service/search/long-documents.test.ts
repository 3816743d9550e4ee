/** Documents with more words than an index of PostgreSQL contains are found like others. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { type TestService, documentsOf, openTestService } from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const FIELDS = { title: { type: 'string' }, body: { type: 'string' } }
const INDEX = { name: 'text', kind: 'text', fields: [{ field: 'title', weight: 3 }, { field: 'body' }] }
/** More than a megabyte. */
const LONG = Array.from({ length: 100_000 }, (_, i) => `filler${i % 1_000}`).join(' ')
const DOCUMENTS = [
  { _id: 'long', title: 'night', body: `blue ${LONG} night sky` },
  { _id: 'other', title: 'day', body: `red ${LONG} sky` },
  { _id: 'short', title: 'blue night', body: 'filler7 sky' },
  { _id: 'plain', title: 'red', body: 'night' },
  { _id: 'empty' },
]

const SEARCHES: readonly (readonly [text: string, byRelevance: string])[] = [
  ['blue', 'short long'],
  ['night', 'long short plain'],
  ['blue night', 'short long'],
  ['filler7', 'long other short'],
  ['filler7 night', 'long short'],
  ['filler7 -night', 'other'],
  ['night -filler7', 'plain'],
  ['sky -"night sky"', 'other short'],
  ['"night sky"', 'long'],
  ['"night sky" blue', 'long'],
  ['"night sky" -blue', ''],
  ['nigh* -red', 'long short'],
  ['"night sk"*', 'long'],
  ['sky -fill*', ''],
  ['-blue', 'empty other plain'],
]

onEveryStore(() => {
  let tester: TestService

  before(async () => {
    tester = await openTestService()
    await tester.define('page', FIELDS, { info: { indexes: [INDEX] } })
    await tester.store('page', DOCUMENTS)
  })
  after(() => tester[Symbol.asyncDispose]())

  const found = async (text: string, more: JsonObject) => {
    const response = await tester.find('page', { query: { text }, projection: { field: '_id' }, ...more })
    return { ids: documentsOf(response).map(({ _id }) => _id as string), matchCount: response.matchCount }
  }

  for (const [text, byRelevance] of SEARCHES) {
    void test(`find: ${text} finds ${byRelevance || 'nothing'}, also in long documents`, async () => {
      const ids = byRelevance === '' ? [] : byRelevance.split(' ')
      const sorted = ids.toSorted()
      const [range, sort] = [[0, 9], { $score: '$desc' }]
      assert.deepEqual(await found(text, { sort }), { ids, matchCount: ids.length })
      assert.deepEqual(await found(text, { range: [0, 0] }), {
        ids: sorted.slice(0, 1),
        matchCount: ids.length,
      })
      const uncounted = { range, execution: { count: 'none' } }
      assert.deepEqual(await found(text, uncounted), { ids: sorted, matchCount: 0 })
    })
  }
})
