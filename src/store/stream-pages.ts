/**
 * Streams in short reads, so that a reader who is slow, or stops, holds neither a snapshot nor a thread nor a
 * connection. The keys of the documents are searched in stretches, which grow only as far as the reader has come;
 * documents are read by key, a page at a time, and only those that still match are given.
 */
import type { ReadPlan, StoredDocument } from '../plan/plan.ts'

export interface KeySource<Key> {
  /** So many keys in the order of the plan, or all there are, after those that were given before; from one moment. */
  keys(count: number, skip: number): Promise<readonly Key[]>
  /** Those that are there and match, by key; undefined when they are too large to be held together. */
  documents(keys: readonly Key[]): Promise<ReadonlyMap<Key, StoredDocument> | undefined>
}

/** About as much is held of a stream at a time. */
export const PAGE_BYTES = 8 * 1024 * 1024

const FIRST_STRETCH = 1_000
const GROWTH = 8
const MAX_KEYS = 256 * 1024
const FIRST_PAGE = 50
const MAX_DOCUMENTS = 500

export async function* streamByKeys<Key>(
  { from, to }: Pick<ReadPlan, 'from' | 'to'>,
  source: KeySource<Key>,
): AsyncGenerator<StoredDocument> {
  let remaining = to === undefined ? Infinity : to - from + 1
  let skip = from
  let pageSize = FIRST_PAGE
  for (let stretch = FIRST_STRETCH; remaining > 0; stretch = Math.min(stretch * GROWTH, MAX_KEYS)) {
    const count = Math.min(stretch, remaining)
    const keys = await source.keys(count, skip)
    for (let next = 0; next < keys.length;) {
      const page = keys.slice(next, next + pageSize)
      const found = await source.documents(page)
      if (!found) {
        pageSize = Math.max(1, page.length >> 2)
        continue
      }
      next += page.length
      for (const key of page) {
        const document = found.get(key)
        if (document) yield document
      }
      pageSize = Math.min(pageSize * 2, MAX_DOCUMENTS)
    }
    if (keys.length < count) return
    remaining -= keys.length
    skip = 0
  }
}
