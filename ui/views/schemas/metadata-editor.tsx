/** Writes metadata, by a form or as JSON: first a dry run with its report, then the change. */
import type { Diagnostic } from '@codemirror/lint'
import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { asObject } from '../../client/data-client.ts'
import { noteFailure } from '../../app/loading.ts'
import { go, useChoice } from '../../app/place.ts'
import { client } from '../../app/session.ts'
import { showToast } from '../../app/toast.tsx'
import { unsavedAt, useUnsaved } from '../../app/unsaved.ts'
import { type JsonObject, isObject, parseJson, printJson, sameJson, textOf } from '../../client/json.ts'
import type { Metadata } from '../../client/types.ts'
import { LazyJsonEditor } from '../../parts/lazy-json-editor.ts'
import { Tabs } from '../../parts/tabs.tsx'
import { spanOf } from '../../schema/json-pointer.ts'
import { INFO_AT, type MetadataProblem, problemOf } from '../../schema/metadata-problem.ts'
import { completeMetadata } from './completion.ts'
import { ImpactReport } from './impact-report.tsx'
import { SchemaForm } from './schema-form.tsx'

interface MetadataEditorProps {
  readonly initial: JsonObject
  readonly isNew?: boolean
  /** Whether the version exists. Its entity info can be changed then, but its schema cannot. */
  readonly isExisting?: boolean
  readonly onWritten: () => void
}

const TABS = [
  { name: 'form', label: 'Form' },
  { name: 'text', label: 'JSON' },
] as const

export function MetadataEditor(props: MetadataEditorProps): JSX.Element {
  const { initial, isNew = false, isExisting = false, onWritten } = props
  const [tab, setTab] = useChoice('editor', ['form', 'text'])
  // the text is what counts; the form changes it
  const start = printJson(initial, 2)
  const key = printJson(['metadata', isNew, isExisting, nameOf(initial)])
  const [left, setLeft] = useState(() => workLeftAt(key, start))
  const [text, setText] = useState(left?.text ?? start)
  const isChanged = text !== start
  const work: Work | undefined = isChanged ? { start: left?.start ?? start, text } : undefined
  const name = isNew ? 'a new entity' : nameOf(initial)
  const isDone = useUnsaved({ key, name, work, isContinued: left !== undefined })
  const [problem, setProblem] = useState<MetadataProblem>()
  const [checked, setChecked] = useState<Metadata>()
  const [isBusy, setIsBusy] = useState(false)
  /** As it is now, for answers that come late: one about an earlier text must not lead to saving this one. */
  const latest = useRef(text)
  const edit = (next: string): void => {
    latest.current = next
    setText(next)
    setChecked(undefined)
  }
  const run = async (isDryRun: boolean): Promise<void> => {
    setProblem(undefined)
    setChecked(undefined)
    setIsBusy(true)
    let sentAt = ''
    try {
      const metadata = parseJson(text)
      if (!isObject(metadata)) throw new Error('metadata is a JSON object with entityInfo and schema')
      const { entityInfo, schema } = metadata
      const isInfoOnly = isExisting && isObject(entityInfo) && sameJson(schema, initial['schema'])
      if (isInfoOnly) sentAt = INFO_AT
      const answer = isInfoOnly
        ? await client.putEntityInfo(entityInfo, { isDryRun })
        : await client.putMetadata(metadata, { isDryRun })
      if (isDryRun) setChecked(latest.current === text ? answer : undefined)
      else {
        isDone.current = true
        onWritten()
        showWritten(asObject(schema), answer)
      }
    } catch (failure) {
      noteFailure(failure)
      setProblem(problemOf(failure, sentAt))
    }
    setIsBusy(false)
  }
  return (
    <form
      class="metadata-editor"
      onSubmit={(event) => {
        event.preventDefault()
        void run(true)
      }}
    >
      {left && isChanged && (
        <p class="notice row" role="status">
          These are the changes that you did not save.
          {left.start !== start &&
            ' The metadata has changed since you began them: saving them undoes that change.'}
          <button
            type="button"
            onClick={() => {
              edit(start)
              setLeft(undefined)
            }}
          >
            Discard them
          </button>
        </p>
      )}
      <Tabs label="Editor" tabs={TABS} current={tab} onChoose={setTab}>
        {tab === 'form' ? (
          <FormTab text={text} problem={problem} isNew={isNew} onChange={edit} />
        ) : (
          <LazyJsonEditor
            label="Metadata as JSON"
            text={text}
            complete={completeMetadata}
            diagnostics={
              problem?.pointer === undefined
                ? NO_DIAGNOSTICS
                : [diagnosticAt(text, problem.pointer, problem.message)]
            }
            onChange={edit}
          />
        )}
      </Tabs>
      <p class="problem" role={problem ? 'alert' : undefined}>
        {problem?.message}
      </p>
      {checked?.dryRun && <ImpactReport impact={checked.dryRun} warnings={checked.warnings ?? []} />}
      <footer class="row">
        <button type="submit" class={checked ? '' : 'primary'} disabled={isBusy}>
          {isBusy ? 'Working…' : 'Check'}
        </button>
        {checked?.dryRun?.changes === true && (
          <button
            type="button"
            class="primary"
            disabled={isBusy}
            onClick={(event) => {
              // a part that is no JSON yet is not in the text that was checked
              if (event.currentTarget.form?.reportValidity() === true) void run(false)
            }}
          >
            Save
          </button>
        )}
        <span class="hint">A version is immutable: give changed fields or access a new version.</span>
      </footer>
    </form>
  )
}

/** Of a user who left it before it was saved. */
interface Work {
  /** What was changed. */
  readonly start: string
  readonly text: string
}

/** None where the metadata is another one by now, for somebody who signed in later and may not have seen that one. */
function workLeftAt(key: string, start: string): Work | undefined {
  const left = unsavedAt(key)
  const work = left?.work as Work | undefined
  return left?.isSameUser === true || work?.start === start ? work : undefined
}

/** The entity and its version. */
function nameOf({ schema }: JsonObject): string {
  const { name, version } = asObject(schema)
  return `${textOf(name)} ${textOf(asObject(version)['value'])}`
}

const NO_DIAGNOSTICS: readonly Diagnostic[] = []

function diagnosticAt(text: string, pointer: string, message: string): Diagnostic {
  return { ...spanOf(text, pointer), severity: 'error', message }
}

interface FormTabProps {
  readonly text: string
  readonly problem: MetadataProblem | undefined
  readonly isNew: boolean
  readonly onChange: (text: string) => void
}

function FormTab({ text, problem, isNew, onChange }: FormTabProps): JSX.Element {
  const metadata = objectIn(text)
  if (!metadata) return <p class="hint">The text is not valid JSON. Correct it there first.</p>
  return (
    <SchemaForm
      metadata={metadata}
      problem={problem}
      isNew={isNew}
      onChange={(next) => onChange(printJson(next, 2))}
    />
  )
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function showWritten(schema: JsonObject, { warnings = [] }: Metadata): void {
  const [name, version] = [textOf(schema['name']), textOf(asObject(schema['version'])['value'])]
  const count = warnings.length
  go(['schemas', name], { v: version })
  showToast({
    kind: 'done',
    text: `Saved ${name} ${version}${count === 0 ? '' : `, with ${count} ${count === 1 ? 'warning' : 'warnings'}`}.`,
    ...(count > 0 && {
      action: { label: 'Show', run: () => go(['schemas', name], { v: version, tab: 'findings' }) },
    }),
  })
}
