/** The API: every operation, to be tried with one's own entities and roles. */
import type { JSX } from 'preact'
import { useLoaded } from '../../app/loading.ts'
import { href, usePlace, useText } from '../../app/place.ts'
import { client } from '../../app/session.ts'
import { Empty, Failure, Progress } from '../../parts/notices.tsx'
import { type Operation, operationsIn } from './operations.ts'
import { TryOperation } from './try-operation.tsx'

export function ApiView(): JSX.Element {
  const { path } = usePlace()
  const [search, setSearch] = useText('search')
  const loaded = useLoaded(async () => operationsIn(await client.openapi()), [])
  if (loaded.failure !== undefined) return <Failure failure={loaded.failure} onRetry={loaded.reload} />
  if (!loaded.value) return <Progress label="Loading operations" />
  const operations = loaded.value
  const chosen = operations.find(({ id }) => id === path[1])
  const words = search.toLowerCase().split(/\s+/)
  const shown = operations.filter(({ method, path: address, summary }) => {
    const text = `${method} ${address} ${summary}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  return (
    <div class={chosen ? 'data-view api has-entity' : 'data-view api'}>
      <nav class="entities" aria-label="Operations">
        <input
          type="search"
          aria-label="Find an operation"
          placeholder="Find an operation"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        {[...Map.groupBy(shown, ({ tag }) => tag)].map(([tag, group]) => (
          <section key={tag}>
            <h2>{tag}</h2>
            <ul>
              {group.map((each) => (
                <OperationItem key={each.id} operation={each} isChosen={each === chosen} />
              ))}
            </ul>
          </section>
        ))}
      </nav>
      {chosen ? (
        <TryOperation key={chosen.id} operation={chosen} />
      ) : (
        <section class="page">
          <h1>API</h1>
          <Empty title="Choose an operation">
            <p>
              Send it with your entities and roles. The whole interface is also{' '}
              <a href="/docs">one page to read</a> and <a href="/openapi.json">an OpenAPI document</a>.
            </p>
          </Empty>
        </section>
      )}
    </div>
  )
}

interface OperationItemProps {
  readonly operation: Operation
  readonly isChosen: boolean
}

function OperationItem({ operation, isChosen }: OperationItemProps): JSX.Element {
  const { id, method, path, summary } = operation
  return (
    <li>
      <a href={href(['api', id])} aria-current={isChosen ? 'page' : undefined} title={summary}>
        <span class="name">{path}</span>
        <span class={`count method-${method.toLowerCase()}`}>{method}</span>
      </a>
    </li>
  )
}
