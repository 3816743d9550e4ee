/** References into another datasource, compared in memory: others have their turn meanwhile, and time is kept. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { printResponse } from '../../../src/service/response.ts'
import { ADMIN, codeOf, documentsOf } from '../../support/service.ts'
import { type TwoDatasources, openTwoDatasources } from '../../support/two-datasources.ts'

const COUNT = 5_000
const INTEGER = { type: 'integer' }
let on: TwoDatasources
/** How often the loop turned since a store last found something: waiting for a store turns it, too. */
let turns = 0

before(async () => {
  on = await openTwoDatasources({ onFound: () => (turns = 0) })
  await on.define('part', 'far', { n: INTEGER, m: INTEGER })
  /** No two values have to be the same, so that every document is held against every one. */
  const terms = Array.from({ length: 600 }, () => ({ field: 'n', op: '<', rfield: '$parent.limit' }))
  const apart = { type: 'reference', entity: 'part', query: { $or: terms } }
  await on.define('whole', 'near', { limit: INTEGER, apart })
  await on.store(
    'part',
    Array.from({ length: COUNT }, (_, n) => ({ _id: `p${n}`, n, m: n % 7 })),
  )
  await on.store('whole', [{ _id: 'w', limit: 0 }])
})
after(() => on[Symbol.asyncDispose]())

async function turning<T>(work: () => Promise<T>): Promise<T> {
  let isDone = false
  const turn = (): void => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  const result = await work()
  isDone = true
  return result
}

const SHOWN: JsonObject = { projection: [{ field: '_id' }, { field: 'apart.*.n' }] }

test('find: the loop keeps turning while documents of another datasource are joined to one document', async () => {
  const response = await turning(() => on.find('whole', SHOWN))
  assert.deepEqual(documentsOf(response), [{ _id: 'w' }], printResponse(response))
  // All but reading is done since then: parsing, comparing thousands of documents, and showing what is joined.
  assert.ok(turns > 20, `the loop turned ${turns} times`)
})

/**
 * Clauses that no store can answer and no key decides, so that each looks at all documents. They are as many as the limit
 * admits, because each repeats the conditions of the reference.
 */
const CLAUSES = Array.from({ length: 12 }, () => ({ field: 'apart#', op: '=', rvalue: 1 }))
const BY_MANY: JsonObject = { query: { $or: CLAUSES }, projection: { field: '_id' } }

/** Enough for stores to find all, and nowhere near enough to compare it. */
const execution = { maxTimeMs: 400 }

test('find: comparing in memory ends at the time limit, inside of one document, too', async () => {
  const response = await on.find('whole', { ...BY_MANY, execution })
  assert.equal(codeOf(response), 'store-crud:Timeout', printResponse(response))
})

test('stream: comparing in memory ends at the time limit', async () => {
  const lines = await on.service.data.stream(ADMIN, { entity: 'whole' }, { ...BY_MANY, execution })
  assert.ok('status' in lines, 'it fails before the first document')
  assert.equal(codeOf(lines), 'store-crud:Timeout')
})
