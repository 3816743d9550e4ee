/** Pages of a stream: how many documents are in memory at a time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredDocument } from '../../../src/plan/plan.ts'
import { type KeySource, streamByKeys } from '../../../src/store/stream-pages.ts'

const KIB = 1024

const EVERYTHING = { from: 0, sort: [] }

interface Reading {
  /** Bytes of each page. */
  readonly pages: readonly number[]
  readonly documents: readonly number[]
  /** How many keys were read at a time. */
  readonly batches: readonly number[]
}

async function read(
  count: number,
  bytesOf: (key: number) => number,
  plan: Parameters<typeof streamByKeys>[0] = EVERYTHING,
): Promise<Reading> {
  const pages: number[] = []
  const batches: number[] = []
  let next = 0
  const source: KeySource<number> = {
    keys: async (limit) => {
      const keys = Array.from({ length: Math.min(limit, count - next) }, (_, i) => next + i)
      next += keys.length
      batches.push(keys.length)
      return keys
    },
    documents: async (keys) => {
      pages.push(keys.reduce((sum, key) => sum + bytesOf(key), 0))
      return new Map(keys.map((key) => [key, documentOf(key, bytesOf(key))]))
    },
  }
  const documents: number[] = []
  for await (const { id } of streamByKeys(plan, source)) documents.push(Number(id))
  return { pages, documents, batches }
}

function documentOf(key: number, bytes: number): StoredDocument {
  return { id: `${key}`, version: 1, text: 'x'.repeat(bytes) }
}

for (const [bytes, mostBytes] of [
  [100, 50 * KIB],
  [1 * KIB, 64 * KIB],
  [10 * KIB, 64 * KIB],
  [300 * KIB, 300 * KIB],
] as const) {
  test(`stream: pages of documents of ${bytes} bytes have at most ${mostBytes} bytes after the first`, async () => {
    const count = Math.max(200, Math.ceil((4_000 * KIB) / bytes))
    const { pages, documents } = await read(count, () => bytes)
    assert.deepEqual(
      documents,
      Array.from({ length: count }, (_, i) => i),
    )
    assert.ok(Math.max(...pages.slice(1)) <= mostBytes, pages.slice(0, 10).join())
    // and not many more round trips than that takes
    const total = bytes * count
    assert.ok(pages.length <= 12 + (1.5 * total) / mostBytes, `${pages.length} pages`)
  })
}

test('stream: pages grow again after large documents', async () => {
  const { pages } = await read(4_000, (key) => (key < 100 ? 50 * KIB : 100))
  assert.ok(pages.at(-2)! >= 40 * KIB, pages.join())
})

test('stream: all documents in the order of _id need few keys at a time', async () => {
  const { batches, documents } = await read(100_000, () => 10)
  assert.equal(documents.length, 100_000)
  assert.equal(Math.max(...batches), 16 * KIB)
  assert.ok(batches.length < 12, batches.join())
})

test('stream: no index has the keys of an earlier time in order, so that more are read at a time', async () => {
  const { batches } = await read(100_000, () => 10, { ...EVERYTHING, asOf: 1 })
  assert.ok(Math.max(...batches) > 50_000, batches.join())
})
