/** A value that several parts of the page share, and the hook that follows it. */
import { useEffect, useState } from 'preact/hooks'

export interface Store<T> {
  readonly get: () => T
  readonly set: (value: T) => void
  readonly subscribe: (onChange: () => void) => () => void
}

export function createStore<T>(initial: T): Store<T> {
  let current = initial
  const listeners = new Set<() => void>()
  return {
    get: () => current,
    set(value) {
      if (value === current) return
      current = value
      for (const each of listeners) each()
    },
    subscribe(onChange) {
      listeners.add(onChange)
      return () => void listeners.delete(onChange)
    },
  }
}

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(store.get)
  useEffect(() => {
    const update = (): void => setValue(() => store.get())
    update()
    return store.subscribe(update)
  }, [store])
  return value
}
