/** The panel of one document: loads it, and shows it as a form, as JSON, with its history and its references. */
import type { JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useLoaded } from '../../app/loading.ts'
import type { Versioned } from '../../client/data-client.ts'
import { type Json, isObject, printJson } from '../../client/json.ts'
import { Icon } from '../../parts/icons.tsx'
import { Empty, Failure, Progress } from '../../parts/notices.tsx'
import { DocumentEditor } from './document-editor.tsx'
import { type DocumentPanelProps, idIn, readDocument } from './document-source.ts'

export function DocumentPanel(props: DocumentPanelProps): JSX.Element {
  const { metadata, id, asOf, copyOf, onClose } = props
  const { name: entity } = metadata.entityInfo
  const version = metadata.schema.version.value
  const wanted = id ?? (copyOf === undefined ? undefined : idIn(copyOf))
  const key = wanted === undefined ? '' : printJson(wanted)
  const found = useLoaded(
    async () => (wanted === undefined ? undefined : await readDocument({ entity, version, asOf }, wanted)),
    [entity, version, asOf, key],
  )
  const heading = useRef<HTMLHeadingElement>(null)
  // before anybody sees the panel, so that Escape closes it from the beginning
  useLayoutEffect(() => heading.current?.focus(), [])
  const title =
    id === undefined ? `New ${entity}` : `${entity} ${typeof id === 'string' ? id : printJson(id)}`
  const isMissing = wanted !== undefined && !found.isLoading && found.failure === undefined && !found.value
  return (
    <aside
      class="panel"
      aria-label={title}
      onKeyDown={(event) => event.key === 'Escape' && !event.defaultPrevented && onClose()}
    >
      <header>
        <h2 ref={heading} tabIndex={-1} title={title}>
          {title}
        </h2>
        <button type="button" class="quiet icon-only" aria-label="Close the document" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {found.failure !== undefined && <Failure failure={found.failure} onRetry={found.reload} />}
      {found.isLoading && !found.value && wanted !== undefined && <Progress label="Loading the document" />}
      {isMissing && (
        <Empty title="No such document">
          <p>It was deleted, did not exist at that time, or you may not find it.</p>
        </Empty>
      )}
      {(wanted === undefined || found.value) && (
        <DocumentEditor
          {...props}
          key={found.value?.documentVersion}
          stored={id === undefined ? undefined : found.value}
          initial={id === undefined ? withoutIdentity(found.value?.document) : found.value!.document}
        />
      )}
    </aside>
  )
}

/** A copy is another document: the service gives it an `_id` of its own. */
function withoutIdentity(document: Json | undefined): Versioned['document'] {
  if (!isObject(document)) return {}
  const { _id, ...rest } = document
  return rest
}
