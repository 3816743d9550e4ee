/** The sort in time slices: the same order as that of the engine, with pauses. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeSort } from '../../../src/base/merge-sort.ts'
import { SEED } from '../../support/seed.ts'
import { chanceFrom } from '../../support/seeded.ts'

interface Item {
  readonly key: number
  readonly place: number
}

const byKey = (a: Item, b: Item): number => a.key - b.key

/** The sorted items, and how often the sort paused. */
function finish(items: readonly Item[], shouldYield: () => boolean) {
  const sorting = mergeSort(items, byKey, shouldYield)
  for (let pauses = 0; ; pauses++) {
    const { done, value } = sorting.next()
    if (done) return { sorted: value, pauses }
  }
}

test('merge sort: random lists of every small length, equal items in their order', () => {
  const chance = chanceFrom(SEED)
  for (let length = 0; length < 200; length++) {
    const items = Array.from({ length }, (_, place) => ({ key: chance(10), place }))
    assert.deepEqual(finish(items, () => false).sorted, items.toSorted(byKey))
  }
})

test('merge sort: it pauses whenever it is told to, and changes nothing that it was given', () => {
  const items = Array.from({ length: 64 }, (_, place) => ({ key: -place, place }))
  const before = [...items]
  const { sorted, pauses } = finish(items, () => true)
  assert.deepEqual(sorted, items.toReversed())
  assert.equal(pauses, 64 * 6)
  assert.deepEqual(items, before)
})
