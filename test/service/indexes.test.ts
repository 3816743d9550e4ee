/** Declared indexes change how fast an answer comes, never the answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json.ts'
import { documentsOf } from '../support/service.ts'
import { openTenant } from '../support/shared-service.ts'

const objects = (fields: JsonObject): JsonObject => ({ type: 'array', items: { type: 'object', fields } })
const index = (...paths: readonly string[]): JsonObject => ({ fields: paths.map((field) => ({ field })) })

const FIELDS: JsonObject = {
  s: { type: 'string' },
  '**': { type: 'integer' },
  A: objects({ a: { type: 'integer' }, x: objects({ b: { type: 'integer' } }) }),
}
const DOCUMENTS: Json = [
  { _id: '1', A: [{ a: 1 }] },
  { _id: '2', A: [{ a: 1, x: [{ b: 2 }] }] },
  { _id: '3', '**': 5, s: 'ﬅ' },
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
  ['of a field whose name holds a star', index('**'), { field: '**', op: '=', rvalue: 5 }, ['3']],
  [
    'that ignores case, for letters with two code points',
    { fields: [{ field: 's', caseInsensitive: true }] },
    { field: 's', regex: '^ﬆ', caseInsensitive: true },
    ['3'],
  ],
]

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
