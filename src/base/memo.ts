/** Answers that are worked out once. */

/** Remembered as long as what they were asked about lives. */
export function memoized<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>()
  return (key) => {
    const found = known.get(key)
    if (found !== undefined || known.has(key)) return found as V
    const value = compute(key)
    known.set(key, value)
    return value
  }
}

/** Made when first asked for. */
export function once<V>(make: () => V): () => V {
  let made: { readonly value: V } | undefined
  return () => (made ??= { value: make() }).value
}

/** Made when asked for, and again when nobody held it for a while: for what is large and seldom wanted. */
export function recalled<V extends object>(make: () => V): () => V {
  let held: WeakRef<V> | undefined
  return () => {
    const known = held?.deref()
    if (known) return known
    const made = make()
    held = new WeakRef(made)
    return made
  }
}
