/** The cache that is limited by the size of its values: which values it keeps, and what an eviction costs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SizedCache } from '../../../src/base/sized-cache.ts'

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f'] as const

void test('cache: values that were used least recently are evicted first', () => {
  const cache = new SizedCache<string, number>(3)
  for (const key of ['a', 'b', 'c']) cache.set(key, 1, 1)
  cache.get('a')
  cache.set('d', 1, 1)
  assert.deepEqual(kept(cache), ['a', 'c', 'd'])
  cache.set('e', 1, 2)
  assert.deepEqual(kept(cache), ['d', 'e'])
  cache.set('d', 2, 1)
  cache.set('f', 1, 2)
  assert.deepEqual(kept(cache), ['d', 'f'])
  assert.equal(cache.get('d'), 2)
})

void test('cache: a value larger than the whole cache is not cached, and replaces what had its key', () => {
  const cache = new SizedCache<string, number>(3)
  for (const key of ['a', 'b', 'c']) cache.set(key, 1, 1)
  cache.set('b', 2, 4)
  assert.deepEqual(kept(cache), ['a', 'c'])
})

void test('cache: it keeps the same values as a list in the order of use', () => {
  const maxSize = 10
  const cache = new SizedCache<string, number>(maxSize)
  let list: { readonly key: string; readonly value: number; readonly size: number }[] = []
  let state = 7
  const random = (n: number): number => {
    state = (state * 48_271) % 2_147_483_647
    return state % n
  }
  for (let step = 0; step < 5_000; step++) {
    const key = KEYS[random(KEYS.length)]!
    const known = list.find((each) => each.key === key)
    const others = list.filter((each) => each !== known)
    switch (random(3)) {
      case 0: {
        assert.equal(cache.get(key), known?.value)
        list = known ? [...others, known] : others
        break
      }
      case 1: {
        cache.delete(key)
        list = others
        break
      }
      default: {
        const size = 1 + random(5)
        cache.set(key, step, size)
        list = [...others, { key, value: step, size }]
        while (list.reduce((sum, each) => sum + each.size, 0) > maxSize) list = list.slice(1)
      }
    }
    assert.deepEqual(kept(cache), list.map((each) => each.key).sort())
  }
})

void test('cache: an eviction costs the same, however many values there are', () => {
  const [few, many] = [1_000, 100_000].map((size) => bestOf(3, () => evictions(size)))
  // With the first key of a map it was 70 times as much.
  assert.ok(many! < 10 * few! + 20, `${many!.toFixed(1)} ms with many, ${few!.toFixed(1)} ms with few`)
})

function kept(cache: SizedCache<string, number>): readonly string[] {
  return KEYS.filter((key) => cache.has(key))
}

function evictions(size: number): number {
  const cache = new SizedCache<number, number>(size)
  for (let i = 0; i < size; i++) cache.set(i, i, 1)
  const { user } = process.cpuUsage()
  for (let i = 0; i < 20_000; i++) cache.set(size + i, i, 1)
  return (process.cpuUsage().user - user) / 1_000
}

function bestOf(times: number, measure: () => number): number {
  return Math.min(...Array.from({ length: times }, measure))
}
