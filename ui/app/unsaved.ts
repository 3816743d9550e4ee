/**
 * Keeps unsaved work while the user is elsewhere: a click on something else, Escape, the back button or an expired token must
 * not lose it. It stays in memory until the page is closed or the user signs out.
 */
import { useEffect, useRef } from 'preact/hooks'
import { currentPlace } from './place.ts'
import { callerKey, currentSignIn, signedOutStore, tokenStore } from './session.ts'
import { showToast } from './toast.tsx'

interface Kept {
  readonly work: unknown
  readonly signIn: number
}

const kept = new Map<string, Kept>()

interface Left {
  readonly work: unknown
  /** False after another token was given: it may be that of somebody else. */
  readonly isSameUser: boolean
}

/** What was left under this key, with the rights that apply now. */
export function unsavedAt(key: string): Left | undefined {
  const left = kept.get(withCaller(key))
  return left && { work: left.work, isSameUser: left.signIn === currentSignIn() }
}

export function forgetUnsaved(): void {
  kept.clear()
  askWhileKept()
}

interface Unsaved {
  readonly key: string
  /** For the message, such as `employee 7`. */
  readonly name: string
  /** Undefined while everything is saved. */
  readonly work: unknown
  /** Whether it began with what was left under the key. What cannot be shown here stays kept. */
  readonly isContinued: boolean
}

/** Keeps the work when its part of the page is removed, unless the caller has set the returned ref: all is done then. */
export function useUnsaved({ key, name, work, isContinued }: Unsaved): { current: boolean } {
  const isDone = useRef(false)
  const latest = useRef({ work, place: '', hash: '' })
  latest.current = { work, place: withCaller(key), hash: location.hash }
  useEffect(() => {
    if (isContinued) kept.delete(latest.current.place)
    askWhileKept()
    return () => {
      const { work: left, place, hash } = latest.current
      if (left === undefined || isDone.current || hasSignedOut()) return
      kept.set(place, { work: left, signIn: currentSignIn() })
      askWhileKept()
      const goBack = { label: 'Go back', run: () => void (location.hash = hash) }
      showToast({ kind: 'failed', text: `The changes of ${name} are not saved.`, action: goBack })
    }
  }, [])
  const isUnsaved = work !== undefined
  useEffect(() => {
    if (!isUnsaved) return undefined
    // a listener of its own: the one for what is kept may be removed before
    const ask = (event: Event): void => askToLeave(event)
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isUnsaved])
  return isDone
}

/** Somebody who may read less must not see what others typed. */
function withCaller(key: string): string {
  return `${callerKey(currentPlace().query)} ${key}`
}

/** What was left is lost with the page, wherever the user is by then. */
function askWhileKept(): void {
  if (kept.size > 0) addEventListener('beforeunload', askToLeave)
  else removeEventListener('beforeunload', askToLeave)
}

/** The browser asks whether to leave. */
function askToLeave(event: Event): void {
  event.preventDefault()
}

/** By choice: where the token expired, it is still there. */
function hasSignedOut(): boolean {
  return signedOutStore.get() && tokenStore.get() === ''
}
