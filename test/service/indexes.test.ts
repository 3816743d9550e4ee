/** Declared indexes change how fast an answer comes, never the answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { ADMIN, documentsOf } from '../support/service.ts'
import { openTenant } from '../support/shared-service.ts'
import { onEveryStore, storeKind } from '../support/store-kind.ts'

const objects = (fields: JsonObject): JsonObject => ({ type: 'array', items: { type: 'object', fields } })
const index = (...paths: readonly string[]): JsonObject => ({ fields: paths.map((field) => ({ field })) })

const FIELDS: JsonObject = {
  s: { type: 'string' },
  '**': { type: 'integer' },
  ' ': { type: 'string' },
  A: objects({ a: { type: 'integer' }, x: objects({ b: { type: 'integer' } }) }),
}
const DOCUMENTS: Json = [
  { _id: '1', A: [{ a: 1 }] },
  { _id: '2', A: [{ a: 1, x: [{ b: 2 }] }] },
  { _id: '3', '**': 5, ' ': 'blank', s: 'ﬅ' },
]

const CASES: readonly (readonly [
  rule: string,
  index: JsonObject,
  query: JsonObject,
  found: readonly string[],
])[] = [
  [
    'of arrays at different depths',
    index('A.*.a', 'A.*.x.*.b'),
    { field: 'A.*.a', op: '=', rvalue: 1 },
    ['1', '2'],
  ],
  ['of a field whose name is blank', index(' '), { field: ' ', op: '=', rvalue: 'blank' }, ['3']],
  ['of a field whose name holds a star', index('**'), { field: '**', op: '=', rvalue: 5 }, ['3']],
  [
    'that ignores case, for letters with two code points',
    { fields: [{ field: 's', caseInsensitive: true }] },
    { field: 's', regex: '^ﬆ', caseInsensitive: true },
    ['3'],
  ],
  [
    'that ignores case, for equal texts only',
    { fields: [{ field: 's', caseInsensitive: true }] },
    { field: 's', op: '=', rvalue: 'ﬅ' },
    ['3'],
  ],
  [
    'that ignores case, for none of the texts that differ in case',
    { fields: [{ field: 's', caseInsensitive: true }] },
    { field: 's', op: '$in', values: ['ﬆ', 'x'] },
    [],
  ],
]

onEveryStore(() => {
  for (const [rule, declared, query, found] of CASES) {
    test(`find: an index ${rule} answers as no index does`, async () => {
      for (const indexes of [[], [declared]]) {
        await using tester = await openTenant()
        await tester.define(tester.entity, FIELDS, { info: { indexes } })
        await tester.store(tester.entity, DOCUMENTS)
        const response = await tester.find(tester.entity, { query, projection: { field: '_id' } })
        assert.deepEqual(
          documentsOf(response).map(({ _id }) => _id),
          found,
          indexes.length === 0 ? 'without' : 'with',
        )
      }
    })
  }

  const MANY = 32
  const names = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `f${i}`)
  const numbers = (count: number, more: JsonObject = {}): JsonObject =>
    Object.fromEntries(names(count).map((name) => [name, { type: 'integer', ...more }]))
  const inElements = (count: number): readonly string[] => names(count).map((name) => `a.*.${name}`)

  const WIDE: readonly (readonly [
    rule: string,
    fields: (count: number) => JsonObject,
    info: (count: number) => JsonObject,
  ])[] = [
    ['an index', numbers, (count) => ({ indexes: [index(...names(count))] })],
    ['a unique index', numbers, (count) => ({ indexes: [{ ...index(...names(count)), unique: true }] })],
    [
      'a descending index',
      numbers,
      (count) => ({ indexes: [{ fields: names(count).map((field) => ({ field, dir: '$desc' })) }] }),
    ],
    [
      'an index into an array',
      (count) => ({ a: objects(numbers(count)) }),
      (count) => ({ indexes: [index(...inElements(count))] }),
    ],
    [
      'a unique index into an array',
      (count) => ({ a: objects(numbers(count)) }),
      (count) => ({ indexes: [{ ...index(...inElements(count)), unique: true }] }),
    ],
    ['an identity', (count) => numbers(count, { constraints: { identity: true } }), () => ({})],
  ]

  for (const [rule, fields, info] of WIDE) {
    test(`metadata: ${rule} of ${MANY} fields is built, and a wider one refused`, async () => {
      await using tester = await openTenant()
      await assert.rejects(tester.define(tester.entity, fields(MANY + 1), { info: info(MANY + 1) }), {
        code: 'crud:LimitExceeded',
      })
      await tester.define(tester.entity, fields(MANY), { info: info(MANY) })
      const values = Object.fromEntries(names(MANY).map((name, i) => [name, i]))
      await tester.store(tester.entity, [{ _id: '1', ...(fields(1)['a'] ? { a: [values] } : values) }])
      const path = fields(1)['a'] ? 'a.*.f0' : 'f0'
      const response = await tester.find(tester.entity, {
        query: { field: path, op: '=', rvalue: 0 },
        projection: { field: '_id' },
      })
      assert.equal(response.matchCount, 1)
    })
  }

  test('reads that began before an index was dropped end as if it was still there', async () => {
    await using tester = await openTenant()
    const { entity, service } = tester
    const fields = { title: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } }
    const indexes = [index('tags.*'), { name: 'text', kind: 'text', ...index('title') }]
    await tester.define(entity, fields, { info: { indexes } })
    const documents = Array.from({ length: COUNT }, (_, i) => ({ title: `blue ${i}`, tags: ['x', `y${i}`] }))
    await tester.store(entity, documents)
    const isTagged = { field: 'tags.*', op: '=', rvalue: 'x' }
    // A pattern is matched on another thread, where the find waits for its turn.
    const slow = { $and: [isTagged, { field: 'title', regex: 'b.*e' }] }
    const projection = { field: '_id' }
    const stream = await service.data.stream(ADMIN, { entity }, { query: isTagged, projection })
    assert.ok(!('status' in stream))
    const finds = Array.from({ length: 20 }, (_, i) =>
      tester.find(entity, { query: i % 2 === 0 ? slow : { text: 'blue' }, projection, range: [0, 9] }),
    )
    const update = { query: slow, update: { $set: { title: 'bye' } } }
    const others = [
      service.data.aggregate(ADMIN, { entity }, { query: slow, groupBy: ['tags.*'], range: [0, 9] }),
      service.data.explain(ADMIN, { entity }, { query: slow, projection }),
    ]
    const lines: string[] = []
    for await (const line of stream) {
      lines.push(line)
      if (lines.length !== 2) continue
      const info = { name: entity, defaultVersion: '1.0.0', datastore: { backend: storeKind() } }
      await service.metadata.updateInfo(ADMIN, entity, info)
    }
    const responses = await Promise.all([...finds, ...others])
    assert.deepEqual(
      responses.map(({ status, matchCount }) => [status, matchCount]),
      [...finds.map(() => ['COMPLETE', COUNT]), ['COMPLETE', COUNT + 1], ['COMPLETE', COUNT]],
    )
    assert.match(lines.at(-1)!, new RegExp(`"status":"COMPLETE","matchCount":${COUNT}\\b`))
    assert.equal((await service.data.update(ADMIN, { entity }, update)).modifiedCount, COUNT)
  })
})

/** More than a stream reads at once. */
const COUNT = 2_000
