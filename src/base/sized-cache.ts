/** Values that were used last, up to a size of all of them together. */
export class SizedCache<K, V> {
  readonly #entries = new Map<K, { readonly value: V; readonly size: number }>()
  readonly #most: number
  #size = 0

  constructor(most: number) {
    this.#most = most
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

  /** A value that is larger than all together may be is not kept. */
  set(key: K, value: V, size: number): void {
    this.delete(key)
    if (size > this.#most) return
    this.#entries.set(key, { value, size })
    this.#size += size
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#most) return
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
