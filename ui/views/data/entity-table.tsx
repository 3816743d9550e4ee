/** One entity: its toolbar, its table, and the panel of the document that is open. */
import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useLoaded } from '../../app/loading.ts'
import { change, usePlace } from '../../app/place.ts'
import { client } from '../../app/session.ts'
import { useShortcuts } from '../../app/shortcuts.ts'
import { RequestFailure } from '../../client/failure.ts'
import { type Json, printJson, textOf } from '../../client/json.ts'
import type { Find, Metadata } from '../../client/types.ts'
import { Empty, Failure, Progress } from '../../parts/notices.tsx'
import { type Column, columnsOf, usualColumns } from '../../schema/columns.ts'
import { parsePaths } from '../../schema/path-list.ts'
import { AccessReason } from './access-reason.tsx'
import { DocumentPanel } from './document-panel.tsx'
import { idIn } from './document-source.ts'
import { ExplainDialog } from './explain-dialog.tsx'
import { filterProblem, filterRequest } from './filter.ts'
import { useFileDrop } from './file-drop.ts'
import { FilterBar } from './filter-bar.tsx'
import { useHiddenFields } from './hidden-fields.ts'
import type { Row } from './cursor-pages.ts'
import { ImportDialog } from './import-dialog.tsx'
import { MAX_ROWS, useRows } from './rows.ts'
import { parseSort, printSort, sortRequest, toggleSort } from './sorting.ts'
import { Table } from './table.tsx'
import { Toolbar } from './toolbar.tsx'

interface EntityTableProps {
  readonly entity: string
  readonly caller: string
  readonly onWritten: () => void
}

export function EntityTable(props: EntityTableProps): JSX.Element {
  const { query } = usePlace()
  const version = query['v']
  const metadata = useLoaded(
    () => client.metadata({ entity: props.entity, version }),
    [props.entity, version, props.caller],
  )
  if (metadata.failure !== undefined) return <Failure failure={metadata.failure} onRetry={metadata.reload} />
  if (!metadata.value) return <Progress label="Loading the schema" />
  return <Loaded {...props} metadata={metadata.value} />
}

type LoadedProps = EntityTableProps & { readonly metadata: Metadata }

function Loaded({ entity, caller, metadata, onWritten }: LoadedProps): JSX.Element {
  const { query } = usePlace()
  const { v: version, f: filter = '', sort: sortText, at: asOf, cols, doc } = query
  const all = useMemo(() => columnsOf(metadata.schema.fields), [metadata])
  const hidden = useHiddenFields({ entity, version, caller, columns: all })
  const columns = useMemo(() => (cols === undefined ? usualColumns(all) : chosen(all, cols)), [all, cols])
  const sort = parseSort(sortText)
  const find = findOf({ entity, version, filter, asOf, sort: sortRequest(sort), columns })
  const rows = useRows(find, printJson([find, caller]))
  const [selected, setSelected] = useState<ReadonlyMap<string, Row>>(new Map())
  const [reasonFor, setReasonFor] = useState<string>()
  const [importing, setImporting] = useState<{ readonly file?: File }>()
  const drop = useFileDrop((file) => setImporting({ file }))
  const explain = (): void => change({ explain: 'find' })
  useEffect(() => setSelected(new Map()), [caller, filter, asOf])
  const onDone = (): void => {
    rows.reload()
    setSelected(new Map())
    onWritten()
  }
  useShortcuts([
    { keys: 'n', label: 'Insert a document', run: () => change({ doc: NEW, from: undefined }) },
    { keys: 'r', label: 'Read the table again', run: rows.reload },
    { keys: 'e', label: 'Explain the find', run: explain },
  ])
  const { failure } = rows
  const isFilterWrong = failure instanceof RequestFailure && failure.status === 400 && filter !== ''
  return (
    <section class={doc === undefined ? 'workspace' : 'workspace with-panel'}>
      <h1 class="sr-only">{entity}</h1>
      <div class={drop.isOver ? 'sheet drop' : 'sheet'} {...drop.handlers}>
        <Toolbar
          metadata={metadata}
          find={find}
          columns={all}
          shown={columns}
          hidden={hidden}
          total={rows.total}
          isFilterValid={filterProblem(filter) === undefined}
          selected={[...selected.values()]}
          onExplain={explain}
          onImport={() => setImporting({})}
          onReload={rows.reload}
          onDone={onDone}
        />
        <FilterBar
          text={filter}
          columns={all}
          info={metadata.entityInfo}
          problem={isFilterWrong ? failure.message : undefined}
          onChange={(f) => change({ f })}
        />
        {asOf !== undefined && (
          <p class="banner" role="status">
            As of {asOf.replace('T', ' ')}
            <button type="button" class="quiet" onClick={() => change({ at: undefined })}>
              Back to now
            </button>
          </p>
        )}
        {(rows.total ?? 0) > MAX_ROWS && (
          <p class="banner" role="status">
            The table ends after {MAX_ROWS.toLocaleString('en')} documents. Filter it to see others.
          </p>
        )}
        {failure !== undefined && !isFilterWrong && <Failure failure={failure} onRetry={rows.reload} />}
        {failure === undefined && rows.total === 0 && !rows.isLoading ? (
          <NothingFound isFiltered={filter !== ''} />
        ) : (
          <Table
            rows={rows}
            columns={columns}
            hidden={hidden}
            label={`Documents of ${entity}`}
            sort={sort}
            selected={new Set(selected.keys())}
            openId={doc === undefined || doc === NEW ? undefined : textOf(idIn(doc))}
            onSort={(path, isAdded) => change({ sort: printSort(toggleSort(sort, path, isAdded)) })}
            onOpen={(row) => change({ doc: printJson(row.document['_id'] ?? null), from: undefined })}
            onSelect={(row) => setSelected(toggled(selected, row))}
            onExplainHidden={setReasonFor}
          />
        )}
      </div>
      {doc !== undefined && (
        <DocumentPanel
          key={printJson([doc, query['from'], caller, asOf, metadata.schema.version.value])}
          metadata={metadata}
          id={doc === NEW ? undefined : idIn(doc)}
          asOf={asOf}
          copyOf={query['from']}
          onClose={() => change({ doc: undefined, from: undefined })}
          onWritten={onDone}
        />
      )}
      {reasonFor !== undefined && (
        <AccessReason
          entity={entity}
          version={version}
          field={reasonFor}
          onClose={() => setReasonFor(undefined)}
        />
      )}
      {importing && (
        <ImportDialog
          target={{ entity, version }}
          file={importing.file}
          onClose={() => setImporting(undefined)}
          onWritten={onDone}
        />
      )}
      {query['explain'] !== undefined && (
        <ExplainDialog find={find} metadata={metadata} onClose={() => change({ explain: undefined }, true)} />
      )}
    </section>
  )
}

/** In the address in place of an `_id`: a document that is being written. */
export const NEW = 'new'

function chosen(all: readonly Column[], cols: string): readonly Column[] {
  const paths = parsePaths(cols)
  return all.filter(({ path }) => paths.includes(path))
}

interface FindParts extends Pick<Find, 'entity' | 'version' | 'asOf' | 'sort'> {
  readonly filter: string
  readonly columns: readonly Column[]
}

/** References are followed for the columns that show them, and only there. */
function findOf({ filter, columns, ...rest }: FindParts): Find {
  const references = columns.filter(({ field }) => field.type === 'reference')
  const joined = references.map(({ path }) => ({ field: path, recursive: true }))
  const projection: Json = [{ field: '*', recursive: true }, ...joined]
  const condition = filterProblem(filter) === undefined ? filterRequest(filter) : {}
  return { ...rest, ...condition, projection }
}

function toggled(selected: ReadonlyMap<string, Row>, row: Row): ReadonlyMap<string, Row> {
  const next = new Map(selected)
  const id = textOf(row.document['_id'])
  if (!next.delete(id)) next.set(id, row)
  return next
}

function NothingFound({ isFiltered }: { readonly isFiltered: boolean }): JSX.Element {
  if (isFiltered) {
    return (
      <Empty title="Nothing matches">
        <button type="button" onClick={() => change({ f: undefined })}>
          Clear the filter
        </button>
      </Empty>
    )
  }
  return (
    <Empty title="No documents">
      <p>There are none yet, or none that you may find.</p>
      <button type="button" class="primary" onClick={() => change({ doc: NEW, from: undefined })}>
        Insert a document
      </button>
    </Empty>
  )
}
