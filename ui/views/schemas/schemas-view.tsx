/** Schemas: all entities as a list and as a graph, one entity with its versions, or a new one. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useLoaded } from '../../app/loading.ts'
import { href, usePlace } from '../../app/place.ts'
import { client } from '../../app/session.ts'
import { Icon } from '../../parts/icons.tsx'
import { NameList } from '../../parts/name-list.tsx'
import { Empty, Failure, Progress } from '../../parts/notices.tsx'
import { EntityGraph } from './entity-graph.tsx'
import { EntitySchema } from './entity-schema.tsx'
import { MetadataEditor } from './metadata-editor.tsx'
import { TEMPLATE } from './template.ts'

/** In the address in place of an entity: one that is being written. No name begins with it. */
const NEW = '+'

export function SchemasView(): JSX.Element {
  const { path } = usePlace()
  const entity = path[1]
  const [revision, setRevision] = useState(0)
  const entities = useLoaded(() => client.entities(), [revision])
  if (entities.failure !== undefined) return <Failure failure={entities.failure} onRetry={entities.reload} />
  if (!entities.value) return <Progress label="Loading entities" />
  const onWritten = (): void => setRevision(revision + 1)
  return (
    <div class={entity === undefined ? 'data-view' : 'data-view has-entity'}>
      <NameList names={entities.value} current={entity} view="schemas">
        <a class="button" href={href(['schemas', NEW])}>
          <Icon name="plus" />
          New entity
        </a>
      </NameList>
      {entity === undefined && <Overview isEmpty={entities.value.length === 0} revision={revision} />}
      {entity === NEW && <NewEntity onWritten={onWritten} />}
      {entity !== undefined && entity !== NEW && (
        <EntitySchema key={entity} entity={entity} revision={revision} onWritten={onWritten} />
      )}
    </div>
  )
}

interface OverviewProps {
  readonly isEmpty: boolean
  readonly revision: number
}

function Overview({ isEmpty, revision }: OverviewProps): JSX.Element {
  if (isEmpty) return <Empty title="There is no entity yet" />
  return (
    <section class="page">
      <h1>Entities and references</h1>
      <EntityGraph revision={revision} />
    </section>
  )
}

function NewEntity({ onWritten }: { readonly onWritten: () => void }): JSX.Element {
  return (
    <section class="page tall">
      <h1>New entity</h1>
      <p class="hint">
        Change the names, fields and access lists; the service checks everything when you save.{' '}
        <a href="/docs">The API documentation</a> shows the routes.
      </p>
      <MetadataEditor initial={TEMPLATE} isNew onWritten={onWritten} />
    </section>
  )
}
