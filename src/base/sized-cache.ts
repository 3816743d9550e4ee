/** Caches that are limited by the total size of their values. */

interface Entry<K, V> {
  readonly key: K
  readonly value: V
  readonly size: number
  /** In the order of use. */
  older: Entry<K, V> | undefined
  newer: Entry<K, V> | undefined
}

/**
 * A cache that evicts what was used least recently. The order of use is a list of its own: a map remembers the
 * order of insertion, but to find its first key takes the longer, the more keys before it were deleted.
 */
export class SizedCache<K, V> {
  readonly #entries = new Map<K, Entry<K, V>>()
  readonly #maxSize: number
  #size = 0
  #oldest: Entry<K, V> | undefined
  #newest: Entry<K, V> | undefined

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    if (entry !== this.#newest) {
      this.#unlink(entry)
      this.#append(entry)
    }
    return entry.value
  }

  has(key: K): boolean {
    return this.#entries.has(key)
  }

  /** A value larger than the whole cache is not cached. */
  set(key: K, value: V, size: number): void {
    this.delete(key)
    if (size > this.#maxSize) return
    const entry: Entry<K, V> = { key, value, size, older: undefined, newer: undefined }
    this.#entries.set(key, entry)
    this.#append(entry)
    this.#size += size
    while (this.#size > this.#maxSize) this.delete(this.#oldest!.key)
  }

  delete(key: K): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    this.#size -= entry.size
    this.#entries.delete(key)
    this.#unlink(entry)
  }

  #append(entry: Entry<K, V>): void {
    entry.older = this.#newest
    entry.newer = undefined
    if (this.#newest) this.#newest.newer = entry
    else this.#oldest = entry
    this.#newest = entry
  }

  #unlink({ older, newer }: Entry<K, V>): void {
    if (older) older.newer = newer
    else this.#oldest = newer
    if (newer) newer.older = older
    else this.#newest = older
  }
}

/** Values of many owners whose sizes together are limited. The values of an owner also end with the owner. */
export class SizedRoom {
  /** While a token is here, its value is kept: a value that refers to its owner would keep the owner alive itself. */
  readonly #tokens: SizedCache<string, object>
  #owners = 0

  constructor(maxSize: number) {
    this.#tokens = new SizedCache(maxSize)
  }

  /** To be held by the owner. */
  section<V extends object>(): RoomSection<V> {
    const owner = this.#owners++
    const values = new WeakMap<object, V>()
    return {
      get: (key) => {
        const token = this.#tokens.get(`${owner}/${key}`)
        return token && values.get(token)
      },
      set: (key, value, size) => {
        const token = {}
        values.set(token, value)
        this.#tokens.set(`${owner}/${key}`, token, size + key.length)
      },
    }
  }
}

interface RoomSection<V extends object> {
  readonly get: (key: string) => V | undefined
  /** A value that is evicted is garbage as soon as nothing else refers to it. */
  readonly set: (key: string, value: V, size: number) => void
}
