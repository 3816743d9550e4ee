/**
 * What was typed and is not saved, kept while the user is elsewhere: a click beside it, Escape, the way back, or a token that
 * expired must not cost the work. It stays in memory, until the page is closed or somebody signs out.
 */
import { useEffect, useRef } from 'preact/hooks'
import { signedOutStore, tokenStore } from './session.ts'
import { showToast } from './toast.tsx'

const kept = new Map<string, unknown>()

/** What was left under this key. */
export function unsavedAt(key: string): unknown {
  return kept.get(key)
}

export function forgetUnsaved(): void {
  kept.clear()
}

interface Unsaved {
  readonly key: string
  /** For the message, such as `employee 7`. */
  readonly name: string
  /** Undefined while everything is saved. */
  readonly work: unknown
}

/** Keeps the work when the part of the page goes. What is returned is set to true where it goes because all is done. */
export function useUnsaved({ key, name, work }: Unsaved): { current: boolean } {
  const isDone = useRef(false)
  const latest = useRef({ work, hash: '' })
  latest.current = { work, hash: location.hash }
  useEffect(() => {
    kept.delete(key)
    return () => {
      const { work: left, hash } = latest.current
      if (left === undefined || isDone.current || hasSignedOut()) return
      kept.set(key, left)
      const goBack = { label: 'Go back', run: () => void (location.hash = hash) }
      showToast({ kind: 'failed', text: `The changes of ${name} are not saved.`, action: goBack })
    }
  }, [key])
  const isUnsaved = work !== undefined
  useEffect(() => {
    if (!isUnsaved) return undefined
    // the browser asks whether to leave
    const ask = (event: Event): void => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isUnsaved])
  return isDone
}

/** By choice: where the token expired, it is still there. */
function hasSignedOut(): boolean {
  return signedOutStore.get() && tokenStore.get() === ''
}
