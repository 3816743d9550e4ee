/** Writes of many documents read them in batches that fit in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchesOf, fitInMemory } from '../../../src/store/postgres/write/matching.ts'

const MEGABYTE = 1024 * 1024

function matchesOf(sizes: readonly number[]) {
  return sizes.map((bytes, i) => ({ key: `k${i}`, version: i, bytes }))
}

const CASES: readonly [name: string, sizes: readonly number[], expected: readonly number[]][] = [
  ['no document', [], []],
  ['small documents', Array.from({ length: 450 }, () => 100), [200, 200, 50]],
  ['large documents', Array.from({ length: 10 }, () => 5 * MEGABYTE), [3, 3, 3, 1]],
  ['one that is larger than a batch', [1, 40 * MEGABYTE, 1, 1], [1, 1, 2]],
]

for (const [name, sizes, expected] of CASES) {
  test(`batches: ${name}`, () => {
    const matches = matchesOf(sizes)
    const batches = [...batchesOf(matches)]
    assert.deepEqual(
      batches.map(({ length }) => length),
      expected,
    )
    assert.deepEqual(batches.flat(), matches)
  })
}

test('batches: documents of a save are read together only if they fit', () => {
  assert.ok(fitInMemory(matchesOf([MEGABYTE, MEGABYTE])))
  assert.ok(!fitInMemory(matchesOf(Array.from({ length: 20 }, () => MEGABYTE))))
})
