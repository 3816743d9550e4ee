/** Columns contain only the beginnings of long texts; groups are those of the whole texts. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { MAX_CHARACTERS } from '../../../src/store/layout/columns.ts'
import { aggregateInMemory } from '../../support/aggregate-evaluator.ts'
import { compiledSchema } from '../../support/schema.ts'
import { ADMIN, type TestService, openTestService } from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const FIELDS = { city: { type: 'string' }, note: { type: 'string' }, n: { type: 'integer' } }
const INDEXES = ['city', 'note'].map((field) => ({ name: field, fields: [{ field, dir: '$asc' }] }))
const BEGINNING = '𝒳'.repeat(MAX_CHARACTERS)
const NOTES = [BEGINNING, `${BEGINNING}a`, `${BEGINNING}ab`, `${BEGINNING}ac`, `${BEGINNING}b`, 'short', null]
const DOCUMENTS = NOTES.flatMap((note, i): readonly Json[] =>
  Array.from({ length: i + 1 }, (_, n) => ({
    _id: `${i}-${n}`,
    city: n % 2 === 0 ? 'Bern' : 'Basel',
    note,
    n,
  })),
)

const COUNTED = { groupBy: ['note'], values: { all: { $count: true } } }
const REQUESTS: Readonly<Record<string, JsonObject>> = {
  'all groups': COUNTED,
  'the first page': { ...COUNTED, range: [0, 1] },
  'a page that would be after the last group of beginnings': { ...COUNTED, range: [5, 6] },
  'an order by the text': { ...COUNTED, sort: { note: '$desc' } },
  'a condition on the groups': { ...COUNTED, having: { field: 'all', op: '<', rvalue: 5 } },
  'a condition on the text': { ...COUNTED, having: { field: 'note', op: '=', rvalue: `${BEGINNING}ab` } },
  'two keys': { ...COUNTED, groupBy: ['city', 'note'] },
  'other values': { groupBy: ['note'], values: { sum: { $sum: 'n' }, city: { $max: 'city' } } },
  'extremes of the text': {
    groupBy: ['city'],
    values: { max: { $max: 'note' }, notes: { $distinct: 'note' } },
  },
}

onEveryStore((kind) => {
  const schema = compiledSchema('sale', FIELDS)
  let tester: TestService
  let stored: readonly JsonObject[]

  before(async () => {
    tester = await openTestService()
    await tester.define('sale', FIELDS, { info: { indexes: INDEXES } })
    stored = await tester.store('sale', DOCUMENTS)
  })
  after(() => tester[Symbol.asyncDispose]())

  for (const [name, body] of Object.entries(REQUESTS)) {
    void test(`aggregate: long texts are grouped as a whole, ${name}`, async () => {
      const expected = aggregateInMemory(schema, body, stored)
      // The second time it is known that there are long texts.
      for (const _ of ['first', 'second']) {
        const { errors, processed, matchCount } = await tester.service.data.aggregate(
          ADMIN,
          { entity: 'sale' },
          body,
        )
        assert.deepEqual(errors, undefined)
        assert.deepEqual({ processed, matchCount }, expected)
      }
    })
  }

  // The indexes of SQLite contain whole texts.
  if (kind === 'postgres') {
    void test('aggregate: groups by indexed texts read no documents', async () => {
      const { processed } = await tester.service.data.explain(ADMIN, { entity: 'sale' }, COUNTED)
      assert.doesNotMatch(processed![0]!, /doc::/)
    })
  }
})
