/** A part of the page that is fetched when it is first shown. */
import type { ComponentType, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Failure, Progress } from '../parts/notices.tsx'

export function lazyPart<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let Loaded: ComponentType<P> | undefined
  return function LazyPart(props: P): JSX.Element {
    const [, setIsLoaded] = useState(Loaded !== undefined)
    const [failure, setFailure] = useState<unknown>()
    // even if the code is here by now: it may have arrived after this was drawn, requested by an earlier use
    useEffect(() => {
      load().then(
        (component) => {
          Loaded = component
          return setIsLoaded(true)
        },
        (error: unknown) => setFailure(error),
      )
    }, [])
    if (failure !== undefined) return <Failure failure={failure} onRetry={() => location.reload()} />
    return Loaded ? <Loaded {...props} /> : <Progress label="Loading this part of the page" />
  }
}
