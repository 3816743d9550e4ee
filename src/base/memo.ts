/** Caches for values that are expensive to compute. */
import { SizedCache } from './sized-cache.ts'

/** Computes once per key, and caches the value as long as the key is alive. */
export function memoized<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const cache = new WeakMap<K, V>()
  return (key) => {
    const found = cache.get(key)
    if (found !== undefined || cache.has(key)) return found as V
    const value = compute(key)
    cache.set(key, value)
    return value
  }
}

/**
 * Parses each text once, as long as the texts are short enough together. All callers share the value, so that what is
 * cached by it stays cached.
 */
export function memoizedParse<V extends object>(
  parse: (text: string) => V,
  maxCharacters: number,
): (text: string) => V {
  const cache = new SizedCache<string, V>(maxCharacters)
  return (text) => {
    const known = cache.get(text)
    if (known) return known
    const value = parse(text)
    cache.set(text, value, text.length)
    return value
  }
}

/** Computes the value at the first call. */
export function once<V>(make: () => V): () => V {
  let made: { readonly value: V } | undefined
  return () => (made ??= { value: make() }).value
}

/** Computes the value when needed, and again after it was garbage-collected: for large values that are rarely used. */
export function weaklyCached<V extends object>(make: () => V): () => V {
  let reference: WeakRef<V> | undefined
  return () => {
    const cache = reference?.deref()
    if (cache) return cache
    const made = make()
    reference = new WeakRef(made)
    return made
  }
}

/** Adds to a map, which is cleared when it is full: frequent keys are soon back. */
export function setOrClear<K, V>(map: Map<K, V>, key: K, value: V, maxEntries: number): V {
  if (map.size >= maxEntries && !map.has(key)) map.clear()
  map.set(key, value)
  return value
}

/** Removes the first entry of a map that has too many. A map is in the order in which its keys were added. */
export function evictFirst<K>(map: Map<K, unknown>, maxEntries: number): void {
  if (map.size > maxEntries) map.delete(map.keys().next().value!)
}
