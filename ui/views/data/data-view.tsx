/** Data: the entities, the table of one of them, and the document that is open. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useLoaded } from '../../app/loading.ts'
import { usePlace } from '../../app/place.ts'
import { callerKey, client } from '../../app/session.ts'
import { Empty, Failure, Progress } from '../../parts/notices.tsx'
import { EntityList } from './entity-list.tsx'
import { EntityTable } from './entity-table.tsx'

export function DataView(): JSX.Element {
  const { path, query } = usePlace()
  const entity = path[1]
  const caller = callerKey(query)
  const entities = useLoaded(() => client.entities(), [caller])
  const [revision, setRevision] = useState(0)
  if (entities.failure !== undefined) return <Failure failure={entities.failure} onRetry={entities.reload} />
  if (!entities.value) return <Progress label="Loading entities" />
  return (
    <div class={entity === undefined ? 'data-view' : 'data-view has-entity'}>
      {entity === undefined && <h1 class="sr-only">Data</h1>}
      <EntityList entities={entities.value} current={entity} caller={caller} revision={revision} />
      {entity === undefined ? (
        <Start isEmpty={entities.value.every((name) => name === 'savedSearch')} />
      ) : (
        <EntityTable
          key={entity}
          entity={entity}
          caller={caller}
          onWritten={() => setRevision(revision + 1)}
        />
      )}
    </div>
  )
}

function Start({ isEmpty }: { readonly isEmpty: boolean }): JSX.Element {
  if (!isEmpty) {
    return (
      <Empty title="Choose an entity">
        <p>Its documents appear here. Press Ctrl K to go anywhere by name.</p>
      </Empty>
    )
  }
  return (
    <Empty title="There is no entity yet">
      <p>An entity is a named set of documents with a schema. Define one first; then insert documents.</p>
      <a class="button primary" href="#/schemas/+">
        Define an entity
      </a>
    </Empty>
  )
}
