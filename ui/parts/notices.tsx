/** What the page says where there is nothing to show: an error, an empty list, or that something is being loaded. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { RequestFailure } from '../client/failure.ts'

export function Failure({
  failure,
  onRetry,
}: {
  readonly failure: unknown
  readonly onRetry?: () => void
}): JSX.Element {
  const problems =
    failure instanceof RequestFailure && failure.problems.length > 0
      ? failure.problems
      : [{ errorCode: '', msg: failure instanceof Error ? failure.message : String(failure), context: '' }]
  return (
    <div class="notice failed" role="alert">
      {problems.map(({ errorCode, msg }) => (
        <p key={msg}>
          {msg} {errorCode !== '' && <code>{errorCode}</code>}
        </p>
      ))}
      <p class="hint">{adviceFor(failure)}</p>
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}

function adviceFor(failure: unknown): string {
  if (!(failure instanceof RequestFailure)) return ''
  if (failure.status === 403) return 'Choose other roles with “View as”, or sign in with another token.'
  if (failure.status === 401) return 'Sign in with a valid token.'
  return ''
}

export function Empty({
  title,
  children,
}: {
  readonly title: string
  readonly children?: ComponentChildren
}): JSX.Element {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

const SLOW_MS = 1_000

/** Nothing at first, so that quick answers do not flicker; then a bar, then a word. */
export function Progress({ label }: { readonly label: string }): JSX.Element {
  const [isSlow, setIsSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIsSlow(true), SLOW_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class="progress" role="status">
      <div class="bar" />
      {isSlow && <p>{label}…</p>}
    </div>
  )
}
