/** Changes many documents at once: the changes, a preview by a dry run, and then the write. */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { noteFailure } from '../../app/loading.ts'
import { client } from '../../app/session.ts'
import { showToast } from '../../app/toast.tsx'
import { EVERYTHING } from '../../client/data-client.ts'
import { type JsonObject, printJson, textOf } from '../../client/json.ts'
import type { EntityInfo, Find, Update, Updated } from '../../client/types.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icons.tsx'
import { Failure } from '../../parts/notices.tsx'
import type { Column } from '../../schema/columns.ts'
import { type BulkChange, type ChangeKind, editableColumns, kindsOf, updateOf } from './bulk-changes.ts'
import { BulkPreview, type Preview } from './bulk-preview.tsx'
import type { Row } from './cursor-pages.ts'
import { FieldControl } from './field-control.tsx'

interface BulkEditProps {
  /** The documents that match the filter of the table. */
  readonly find: Find
  readonly info: EntityInfo
  readonly columns: readonly Column[]
  readonly hidden: ReadonlySet<string>
  readonly total: number
  readonly selected: readonly Row[]
  readonly onClose: () => void
  readonly onDone: () => void
}

/** Documents whose values are shown before and after. */
const SAMPLE = 20

export function BulkEdit(props: BulkEditProps): JSX.Element {
  const { find, selected, total, onClose, onDone } = props
  const columns = editableColumns(props.columns, props.hidden)
  const [isSelected, setIsSelected] = useState(selected.length > 0)
  const [changes, setChanges] = useState<readonly BulkChange[]>(
    columns.slice(0, 1).map((column) => ({ column, kind: 'set' })),
  )
  const [preview, setPreview] = useState<Preview>()
  const [failure, setFailure] = useState<unknown>()
  const [isBusy, setIsBusy] = useState(false)
  /** Counts what was changed since: a preview of anything else must not lead to a write. */
  const edits = useRef(0)
  const outdate = (): void => {
    edits.current++
    setPreview(undefined)
  }
  // the back button changes the filter of the table, too
  useEffect(outdate, [printJson(find)])
  const edit = (next: readonly BulkChange[]): void => {
    setChanges(next)
    outdate()
  }
  const run = async (work: () => Promise<void>): Promise<void> => {
    setIsBusy(true)
    setFailure(undefined)
    try {
      await work()
    } catch (error) {
      noteFailure(error)
      setFailure(error)
    }
    setIsBusy(false)
  }
  const update = (): Update => ({
    ...scopeOf(find, isSelected ? selected : undefined),
    update: updateOf(changes),
  })
  const look = (): Promise<void> =>
    run(async () => {
      const asked = edits.current
      const next = await previewOf(find, update())
      if (edits.current === asked) setPreview(next)
    })
  const write = (): Promise<void> =>
    run(async () => {
      const { modifiedCount, failures } = await client.update(update())
      showToast({
        kind: failures.length === 0 ? 'done' : 'failed',
        text: outcomeText(modifiedCount, failures),
      })
      onDone()
    })
  return (
    <Dialog title={`Edit documents of ${find.entity}`} onClose={onClose} isWide>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void look()
        }}
      >
        <fieldset class="choices">
          <legend>Which documents</legend>
          {selected.length > 0 && (
            <Scope
              label={`the ${selected.length.toLocaleString('en')} selected`}
              isChosen={isSelected}
              onChoose={() => {
                setIsSelected(true)
                outdate()
              }}
            />
          )}
          <Scope
            label={`all ${total.toLocaleString('en')} that match the filter`}
            isChosen={!isSelected}
            onChoose={() => {
              setIsSelected(false)
              outdate()
            }}
          />
        </fieldset>
        {columns.length === 0 && (
          <p class="hint">There is no field that could be changed for many documents.</p>
        )}
        {changes.map((change, i) => (
          // changes have no identity of their own; their place is it
          <ChangeRow
            key={i}
            number={i + 1}
            change={change}
            columns={columns}
            info={props.info}
            onChange={(next) => edit(changes.toSpliced(i, 1, next))}
            onRemove={changes.length > 1 ? () => edit(changes.toSpliced(i, 1)) : undefined}
          />
        ))}
        <div>
          <button
            type="button"
            disabled={columns.length === 0}
            onClick={() => edit([...changes, { column: columns[0]!, kind: 'set' }])}
          >
            <Icon name="plus" />
            Another field
          </button>
        </div>
        {failure !== undefined && <Failure failure={failure} />}
        {preview && <BulkPreview preview={preview} paths={changes.map(({ column }) => column.path)} />}
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class={preview ? '' : 'primary'} disabled={isBusy || changes.length === 0}>
            Preview
          </button>
          {preview && preview.updated.modifiedCount > 0 && (
            <button type="button" class="primary" disabled={isBusy} onClick={() => void write()}>
              Change {countText(preview.updated.modifiedCount)}
            </button>
          )}
        </footer>
      </form>
    </Dialog>
  )
}

interface ScopeProps {
  readonly label: string
  readonly isChosen: boolean
  readonly onChoose: () => void
}

function Scope({ label, isChosen, onChoose }: ScopeProps): JSX.Element {
  return (
    <label class="check">
      <input type="radio" name="scope" checked={isChosen} onChange={onChoose} />
      {label}
    </label>
  )
}

interface ChangeRowProps {
  readonly number: number
  readonly change: BulkChange
  readonly columns: readonly Column[]
  readonly info: EntityInfo
  readonly onChange: (change: BulkChange) => void
  readonly onRemove: (() => void) | undefined
}

const KIND_TEXTS: Readonly<Record<ChangeKind, string>> = {
  set: 'set to',
  add: 'add',
  remove: 'remove the value',
}

function ChangeRow({ number, change, columns, info, onChange, onRemove }: ChangeRowProps): JSX.Element {
  const { column, kind, value } = change
  const { field, path } = column
  const named = field.constraints?.['enum']
  const id = `change-${number}`
  return (
    <div class="row change" role="group" aria-label={`Change ${number}`}>
      <label>
        Field
        <select
          value={path}
          onChange={(event) => {
            const chosen = columns.find((each) => each.path === event.currentTarget.value)
            if (chosen) onChange({ column: chosen, kind: 'set' })
          }}
        >
          {columns.map((each) => (
            <option key={each.path}>{each.path}</option>
          ))}
        </select>
      </label>
      <label>
        Change
        <select
          value={kind}
          onChange={(event) => onChange({ ...change, kind: event.currentTarget.value as ChangeKind })}
        >
          {kindsOf(column).map((each) => (
            <option key={each} value={each}>
              {KIND_TEXTS[each]}
            </option>
          ))}
        </select>
      </label>
      {kind !== 'remove' && (
        <div class="field">
          <label for={id}>Value</label>
          <FieldControl
            key={path}
            id={id}
            field={field}
            value={value}
            enumValues={info.enums?.find(({ name }) => name === named)?.values}
            isInvalid={false}
            describedBy={`${id}-hint`}
            onChange={(next) => onChange({ ...change, value: next })}
          />
          <span id={`${id}-hint`} class="sr-only">
            {field.type}
          </span>
        </div>
      )}
      {onRemove && (
        <button
          type="button"
          class="quiet icon-only"
          aria-label={`Remove change ${number}`}
          onClick={onRemove}
        >
          <Icon name="trash" />
        </button>
      )}
    </div>
  )
}

/** Selected documents are changed only as they were seen. */
function scopeOf(find: Find, rows: readonly Row[] | undefined): Omit<Update, 'update'> {
  const { entity, version, query, filter } = find
  if (!rows) return { entity, version, query, filter }
  return {
    entity,
    version,
    query: { field: '_id', op: '$in', values: rows.map(({ document }) => document['_id']!) },
    documentVersions: rows.map(({ documentVersion }) => documentVersion),
  }
}

/** The dry run of the whole change, and of the first documents with their values: all of them could be too many. */
async function previewOf(find: Find, update: Update): Promise<Preview> {
  const updated = await client.update({ ...update, isDryRun: true })
  const { entity, version, query, filter, sort } = { ...find, query: update.query, filter: update.filter }
  const page = { size: SAMPLE }
  const before = await client.find({ entity, version, query, filter, sort, page, projection: EVERYTHING })
  const ids = before.documents.map((document) => document['_id']!)
  const sample = await client.update({
    ...update,
    filter: undefined,
    query: { field: '_id', op: '$in', values: ids },
    projection: EVERYTHING,
    isDryRun: true,
  })
  const after = new Map(sample.documents.map((document) => [printJson(document['_id']), document]))
  const pairs = before.documents.flatMap((document): Preview['pairs'] => {
    const changed: JsonObject | undefined = after.get(printJson(document['_id']))
    return changed ? [{ before: document, after: changed }] : []
  })
  return { updated, pairs }
}

function outcomeText(count: number, failures: Updated['failures']): string {
  if (failures.length === 0) return `Changed ${countText(count)}.`
  const [first] = failures
  const why = first?.problems[0]?.msg ?? ''
  return `Changed ${countText(count)}; ${countText(failures.length)} failed: ${textOf(why)}`
}

function countText(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'document' : 'documents'}`
}
