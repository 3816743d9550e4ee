/** Slow requests: a ring of fixed size, and shapes that name fields and operators only. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { parseIndexes } from '../../../src/metadata/documents/indexes.ts'
import { shapeOfRequest } from '../../../src/service/slow/request-shape.ts'
import { Ring } from '../../../src/service/slow/slow-requests.ts'

test('ring: keeps the newest elements, newest first', () => {
  const ring = new Ring<number>(3)
  assert.deepEqual(ring.newestFirst(), [])
  const seen = [1, 2, 3, 4, 5, 6, 7].map((each) => {
    ring.add(each)
    return ring.newestFirst()
  })
  assert.deepEqual(seen, [[1], [2, 1], [3, 2, 1], [4, 3, 2], [5, 4, 3], [6, 5, 4], [7, 6, 5]])
  const one = new Ring<number>(1)
  for (const each of [1, 2]) one.add(each)
  assert.deepEqual(one.newestFirst(), [2])
})

const INDEXES = parseIndexes(
  [
    { fields: [{ field: 'city' }, { field: 'name' }] },
    { fields: [{ field: 'jobs.*.title' }] },
    { fields: [{ field: 'tags' }] },
    { name: 'words', kind: 'text', fields: [{ field: 'note' }] },
  ],
  '',
)

const FIND = { operation: 'find', limits: DEFAULT_LIMITS, indexes: () => [] }

const SHAPES: readonly (readonly [body: JsonObject, shape: JsonObject])[] = [
  [{}, {}],
  [{ data: [{ city: 'Bern' }] }, {}],
  [{ query: { field: 'city', op: '=', rvalue: 'Bern' } }, { query: 'city = ?', index: 'city, name' }],
  [{ query: { field: 'name', op: '=', rvalue: 'Ann' } }, { query: 'name = ?' }],
  [{ query: { field: 'city', op: '!=', rvalue: 'Bern' } }, { query: 'city != ?' }],
  [{ query: { field: 'city', op: '=', rvalue: null } }, { query: 'city = ?', index: 'city, name' }],
  [
    { query: { field: 'city', op: '$in', values: ['Bern', 'Basel'] }, sort: { born: '$desc' } },
    { query: 'city in (?)', index: 'city, name', sort: 'born desc' },
  ],
  [{ query: { field: 'city', op: '$nin', values: ['Bern'] } }, { query: 'city not in (?)' }],
  [
    { query: { field: 'name', regex: 'An.*', caseInsensitive: true }, sort: [{ name: '$asc' }] },
    { query: 'name ~ /?/i', sort: 'name' },
  ],
  [{ filter: 'city = "Bern" and born > 1980' }, { query: 'city = ? and born > ?', index: 'city, name' }],
  [
    { query: { array: 'jobs', elemMatch: { field: 'title', op: '=', rvalue: 'cook' } } },
    { query: 'any jobs (title = ?)', index: 'jobs.*.title' },
  ],
  [
    { query: { array: 'tags', contains: '$any', values: ['a', 'b'] } },
    { query: 'tags contains any (?)', index: 'tags' },
  ],
  [{ query: { text: 'blue sky' } }, { query: 'text(?)', index: 'note' }],
  [
    { query: { $or: [{ field: 'city', op: '=', rfield: 'name' }, { $not: { text: 'x', index: 'words' } }] } },
    { query: 'city = $name or not text(?, words)' },
  ],
  [
    { query: { field: '_id', op: '=', rvalue: '7' }, groupBy: ['city'], sort: { 'made up': '$asc' } },
    { query: '_id = ?', index: '_id' },
  ],
  [
    { query: { field: 'jobs.4711.title', op: '=', rvalue: 'cook' }, sort: { 'tags.-12': '$asc' } },
    { query: 'jobs.*.title = ?', index: 'jobs.*.title', sort: 'tags.*' },
  ],
  // an array of queries and other bodies that are no find
  [{ query: [1] }, {}],
  [{ query: { nonsense: 'Bern' } }, {}],
]

for (const [body, shape] of SHAPES)
  test(`shape: of ${JSON.stringify(body)}`, () => {
    assert.deepEqual(shapeOfRequest(body, { ...FIND, indexes: () => INDEXES }), shape)
  })

test('shape: a long one is cut', () => {
  const term = { field: 'a'.repeat(30), op: '=', rvalue: 1 }
  const body = { query: { $and: Array.from({ length: 500 }, () => term) } }
  const { query } = shapeOfRequest(body, FIND)
  assert.equal(query?.length, 1_001)
})

test('shape: a sort that a write ignores is not shown, because nobody has checked its names', () => {
  const body = { data: [{ name: 'Ann' }], sort: { 'made up': '$asc' } }
  for (const operation of ['insert', 'save', 'update', 'delete'])
    assert.deepEqual(shapeOfRequest(body, { ...FIND, operation }), {})
})

test('shape: a very long filter is not parsed again', () => {
  const filter = Array.from({ length: 2_000 }, (_, i) => `a = ${i}`).join(' or ')
  assert.deepEqual(shapeOfRequest({ filter }, FIND), {})
})
