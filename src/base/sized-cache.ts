/** An LRU cache that is limited by the total size of its values. */
export class SizedCache<K, V> {
  readonly #entries = new Map<K, { readonly value: V; readonly size: number }>()
  readonly #maxSize: number
  #size = 0

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  has(key: K): boolean {
    return this.#entries.has(key)
  }

  /** A value larger than the whole cache is not cached. */
  set(key: K, value: V, size: number): void {
    this.delete(key)
    if (size > this.#maxSize) return
    this.#entries.set(key, { value, size })
    this.#size += size
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#maxSize) return
      this.delete(oldest)
    }
  }

  delete(key: K): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    this.#size -= entry.size
    this.#entries.delete(key)
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
