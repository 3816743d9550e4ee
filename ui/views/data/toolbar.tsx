/** What can be done with a table: choose version, columns and time; insert, delete, export, explain. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useLoaded } from '../../app/loading.ts'
import { change, href, usePlace } from '../../app/place.ts'
import { client } from '../../app/session.ts'
import { showToast } from '../../app/toast.tsx'
import { textOf } from '../../client/json.ts'
import type { Find, Metadata } from '../../client/types.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icons.tsx'
import type { Column } from '../../schema/columns.ts'
import { BulkEdit } from './bulk-edit.tsx'
import { ColumnChooser } from './column-chooser.tsx'
import type { Row } from './cursor-pages.ts'
import { exportFound } from './export.ts'
import { SavedSearches } from './saved-searches.tsx'
import { ViewAt } from './view-at.tsx'

interface ToolbarProps {
  readonly metadata: Metadata
  readonly find: Find
  readonly columns: readonly Column[]
  readonly shown: readonly Column[]
  readonly hidden: ReadonlySet<string>
  readonly total: number | undefined
  /** Whether the filter can be sent; else the find has none. */
  readonly isFilterValid: boolean
  readonly selected: readonly Row[]
  readonly onExplain: () => void
  readonly onImport: () => void
  readonly onReload: () => void
  readonly onDone: () => void
}

export function Toolbar(props: ToolbarProps): JSX.Element {
  const { metadata, find, columns, shown, total, selected, onExplain, onReload, onDone } = props
  const { entity } = find
  const { query } = usePlace()
  const versions = useLoaded(() => client.versions(entity), [entity])
  const [isDeleting, setIsDeleting] = useState(false)
  const [isEditing, setIsEditing] = useState(false)
  const [isSearching, setIsSearching] = useState(false)
  const used = versions.value?.filter(({ status }) => status !== 'disabled') ?? []
  return (
    <header class="toolbar">
      <a class="back" href={href(['data'])} aria-label="All entities">
        ‹
      </a>
      <span class="title" aria-hidden="true">
        {entity}
      </span>
      <label class="inline">
        <span class="sr-only">Version</span>
        <select
          value={metadata.schema.version.value}
          onChange={(event) => change({ v: event.currentTarget.value })}
        >
          {used.length === 0 && <option>{metadata.schema.version.value}</option>}
          {used.map(({ version, defaultVersion, status }) => (
            <option key={version} value={version}>
              {version}
              {defaultVersion ? ' (default)' : ''}
              {status === 'deprecated' ? ' (deprecated)' : ''}
            </option>
          ))}
        </select>
      </label>
      <span class="total" role="status">
        {total === undefined ? '' : `${total.toLocaleString('en')} ${total === 1 ? 'document' : 'documents'}`}
      </span>
      <span class="spacer" />
      {selected.length > 0 && (
        <button type="button" class="danger" onClick={() => setIsDeleting(true)}>
          <Icon name="trash" />
          Delete {selected.length}
        </button>
      )}
      {find.asOf === undefined && (
        <button
          type="button"
          title="Edit many documents"
          disabled={!props.isFilterValid || (total ?? 0) === 0}
          onClick={() => setIsEditing(true)}
        >
          <Icon name="edit" />
          <span class="label">Edit{selected.length > 0 && ` ${selected.length}`}</span>
        </button>
      )}
      <ViewAt metadata={metadata} find={find} at={query['at']} />
      <ColumnChooser columns={columns} shown={shown} />
      <button type="button" title="Saved searches" onClick={() => setIsSearching(true)}>
        <Icon name="search" />
        <span class="label">Searches</span>
      </button>
      <button type="button" title="Explain (e)" onClick={onExplain}>
        <Icon name="explain" />
        <span class="label">Explain</span>
      </button>
      <button
        type="button"
        class="icon-only"
        title="Import CSV or NDJSON, or drop a file on the table"
        aria-label="Import"
        onClick={props.onImport}
      >
        <Icon name="upload" />
      </button>
      <button
        type="button"
        class="icon-only"
        title="Export what is shown as NDJSON"
        aria-label="Export"
        onClick={() => void exportFound(find, total ?? 0)}
      >
        <Icon name="download" />
      </button>
      <button
        type="button"
        class="icon-only"
        title="Read again (r)"
        aria-label="Read again"
        onClick={onReload}
      >
        <Icon name="refresh" />
      </button>
      <button
        type="button"
        class="primary"
        title="Insert a document (n)"
        onClick={() => change({ doc: 'new', from: undefined })}
      >
        <Icon name="plus" />
        Insert
      </button>
      {isSearching && <SavedSearches find={find} onClose={() => setIsSearching(false)} />}
      {isEditing && (
        <BulkEdit
          find={find}
          info={metadata.entityInfo}
          columns={columns}
          hidden={props.hidden}
          total={total ?? 0}
          selected={selected}
          onClose={() => setIsEditing(false)}
          onDone={() => {
            setIsEditing(false)
            onDone()
          }}
        />
      )}
      {isDeleting && (
        <DeleteDialog
          find={find}
          rows={selected}
          onClose={() => setIsDeleting(false)}
          onDone={() => {
            setIsDeleting(false)
            onDone()
          }}
        />
      )}
    </header>
  )
}

interface DeleteDialogProps {
  readonly find: Find
  readonly rows: readonly Row[]
  readonly onClose: () => void
  readonly onDone: () => void
}

function DeleteDialog({ find: { entity, version }, rows, onClose, onDone }: DeleteDialogProps): JSX.Element {
  const [problem, setProblem] = useState('')
  const remove = async (): Promise<void> => {
    try {
      const count = await client.remove({ entity, version }, rows)
      showToast({
        kind: count === rows.length ? 'done' : 'failed',
        text:
          count === rows.length
            ? `Deleted ${count} ${count === 1 ? 'document' : 'documents'}.`
            : `Deleted ${count} of ${rows.length}: the others were changed meanwhile, or may not be deleted.`,
      })
      onDone()
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  return (
    <Dialog
      title={`Delete ${rows.length} ${rows.length === 1 ? 'document' : 'documents'}?`}
      onClose={onClose}
    >
      <p>
        {rows
          .slice(0, 5)
          .map(({ document }) => textOf(document['_id']))
          .join(', ')}
        {rows.length > 5 && ` and ${rows.length - 5} more`}
      </p>
      {problem !== '' && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <footer>
        <button type="button" onClick={onClose}>
          Keep
        </button>
        <button type="button" class="danger" onClick={() => void remove()}>
          Delete
        </button>
      </footer>
    </Dialog>
  )
}
