/** Loading something for a part of the page: its value, or why there is none. */
import { useCallback, useEffect, useState } from 'preact/hooks'
import { RequestFailure } from '../client/failure.ts'
import { signedOutStore } from './session.ts'

export interface Loaded<T> {
  readonly value: T | undefined
  readonly failure: unknown
  readonly isLoading: boolean
  readonly reload: () => void
}

/** Loads again when one of `keys` changes. The previous value stays visible meanwhile. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>(NOTHING)
  const [count, setCount] = useState(0)
  useEffect(() => {
    const aborting = new AbortController()
    setState(({ value }) => ({ value, failure: undefined, isLoading: true }))
    load(aborting.signal).then(
      (value) => aborting.signal.aborted || setState({ value, failure: undefined, isLoading: false }),
      (failure: unknown) => {
        if (aborting.signal.aborted) return
        noteFailure(failure)
        setState({ value: undefined, failure, isLoading: false })
      },
    )
    return () => aborting.abort()
  }, [...keys, count])
  const reload = useCallback(() => setCount((before) => before + 1), [])
  return { ...state, reload }
}

const NOTHING = { value: undefined, failure: undefined, isLoading: true }

/** Asks for credentials where the service wants some. */
export function noteFailure(failure: unknown): void {
  if (failure instanceof RequestFailure && failure.status === 401) signedOutStore.set(true)
}
