/**
 * Streams in short reads, so that a slow or stopped reader occupies no snapshot, thread or connection. Keys
 * are searched in batches, which grow with the number of documents read; documents are read by key, one
 * page at a time, and only if they still match.
 */
import type { ReadPlan, StoredDocument } from '../plan/plan.ts'

export interface KeySource<Key> {
  /** Returns the next `count` keys in the order of the plan, after all earlier ones, from one snapshot. */
  keys(count: number, skip: number): Promise<readonly Key[]>
  /**
   * Returns the documents that still exist and match, by key; undefined when they are too large for one page.
   */
  documents(keys: readonly Key[]): Promise<ReadonlyMap<Key, StoredDocument> | undefined>
}

/** About the most memory that one page uses. */
export const PAGE_BYTES = 8 * 1024 * 1024

/**
 * What most pages use. A page whose documents are sent within a few milliseconds is garbage before V8 moves it among
 * the objects that live long, where several times the size of a page would pile up.
 */
const GOOD_PAGE_BYTES = 64 * 1024

const FIRST_KEYS = 1_000
const GROWTH = 8
const MAX_KEYS = 256 * 1024
/** Where an index has the keys in order, so that many small batches cost no more than a large one. */
const MAX_INDEXED_KEYS = 16 * 1024
const FIRST_PAGE = 50
const MAX_DOCUMENTS = 500

export async function* streamByKeys<Key>(
  { from, to, query, sort, asOf }: Pick<ReadPlan, 'from' | 'to' | 'query' | 'sort' | 'asOf'>,
  source: KeySource<Key>,
): AsyncGenerator<StoredDocument> {
  const maxKeys = query === undefined && sort.length === 0 && asOf === undefined ? MAX_INDEXED_KEYS : MAX_KEYS
  let remaining = to === undefined ? Infinity : to - from + 1
  let skip = from
  let pageSize = FIRST_PAGE
  for (let keyCount = FIRST_KEYS; remaining > 0; keyCount = Math.min(keyCount * GROWTH, maxKeys)) {
    const count = Math.min(keyCount, remaining)
    const keys = await source.keys(count, skip)
    for (let next = 0; next < keys.length;) {
      const page = keys.slice(next, next + pageSize)
      const found = await source.documents(page)
      if (!found) {
        pageSize = Math.max(1, page.length >> 2)
        continue
      }
      next += page.length
      let bytes = 0
      for (const key of page) {
        const document = found.get(key)
        if (!document) continue
        bytes += document.text.length
        yield document
      }
      const fitting = Math.max(1, Math.floor((GOOD_PAGE_BYTES * page.length) / Math.max(1, bytes)))
      pageSize = Math.min(pageSize * 2, fitting, MAX_DOCUMENTS)
    }
    if (keys.length < count) return
    remaining -= keys.length
    skip = 0
  }
}
