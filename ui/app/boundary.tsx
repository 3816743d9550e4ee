/** Holds what fails while it is drawn: the rest of the page stays, and says what happened. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useErrorBoundary } from 'preact/hooks'
import { Failure } from '../parts/notices.tsx'
import { href, usePlace } from './place.ts'

interface BoundaryProps {
  /** The view that is drawn, to begin again without what the address says of it. */
  readonly view: string
  readonly children: ComponentChildren
}

export function Boundary({ view, children }: BoundaryProps): JSX.Element {
  const place = usePlace()
  const [failure, reset] = useErrorBoundary((error) => console.warn(error))
  // another place may be one that can be drawn
  useEffect(reset, [place])
  if (failure === undefined) return <>{children}</>
  return (
    <section class="page">
      <h1>This cannot be shown</h1>
      <p>The page failed while it was drawn. Documents and schemas are as they were.</p>
      <Failure failure={failure} onRetry={reset} />
      <p>
        <a class="button" href={href([view])}>
          Begin again
        </a>
      </p>
    </section>
  )
}
