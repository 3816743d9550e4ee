/** The page: chooses the view by the address, and asks for a token where the service wants one. */
import { type ComponentType, type JSX, render } from 'preact'
import { useEffect } from 'preact/hooks'
import { Boundary } from './app/boundary.tsx'
import { lazyPart } from './app/lazy.tsx'
import { go, usePlace } from './app/place.ts'
import { finishSignIn } from './app/oidc.ts'
import { signInWith, signInProblemStore, signedOutStore } from './app/session.ts'
import { Shell, type View } from './app/shell.tsx'
import { SignIn } from './app/sign-in.tsx'
import { useStore } from './app/store.ts'
import { DataView } from './views/data/data-view.tsx'

const SchemasView = lazyPart(async () => (await import('./views/schemas/schemas-view.tsx')).SchemasView)
const EventsView = lazyPart(async () => (await import('./views/events/events-view.tsx')).EventsView)
const StatusView = lazyPart(async () => (await import('./views/status/status-view.tsx')).StatusView)
const ApiView = lazyPart(async () => (await import('./views/api/api-view.tsx')).ApiView)

interface Named extends View {
  readonly Component: ComponentType
}

const VIEWS: readonly Named[] = [
  { name: 'data', label: 'Data', icon: 'data', key: 'd', Component: DataView },
  { name: 'schemas', label: 'Schemas', icon: 'schemas', key: 's', Component: SchemasView },
  { name: 'events', label: 'Events', icon: 'events', key: 'e', Component: EventsView },
  { name: 'status', label: 'Status', icon: 'status', key: 't', Component: StatusView },
  { name: 'api', label: 'API', icon: 'docs', key: 'a', Component: ApiView },
]

function Page(): JSX.Element {
  const { path } = usePlace()
  const isSignedOut = useStore(signedOutStore)
  const view = VIEWS.find(({ name }) => name === path[0])
  useEffect(() => {
    if (!view) go(['data'])
    document.title = [path[1], view?.label, 'Smalt'].filter(Boolean).join(' · ')
  }, [view, path[1]])
  if (isSignedOut) return <SignIn />
  return (
    <Shell views={VIEWS}>
      {view && (
        <Boundary key={view.name} view={view.name}>
          <view.Component />
        </Boundary>
      )}
    </Shell>
  )
}

/** A user who comes back from signing in has the token before anything is requested. */
async function start(): Promise<void> {
  try {
    const tokens = await finishSignIn()
    if (tokens) signInWith(tokens)
  } catch (error) {
    signInProblemStore.set((error as Error).message)
    signedOutStore.set(true)
  }
  render(<Page />, document.getElementById('app')!)
}

void start()
