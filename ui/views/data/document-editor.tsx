/** Writing a document: the draft, the errors that the service reports, and a conflict with a change of somebody else. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { noteFailure } from '../../app/loading.ts'
import { change } from '../../app/place.ts'
import { client } from '../../app/session.ts'
import { showToast } from '../../app/toast.tsx'
import { unsavedAt, useUnsaved } from '../../app/unsaved.ts'
import type { Versioned } from '../../client/data-client.ts'
import { RequestFailure, type ServiceProblem, asProblem, fieldOf } from '../../client/failure.ts'
import {
  type Json,
  type JsonObject,
  isArray,
  isObject,
  parseJson,
  printJson,
  sameJson,
  textOf,
} from '../../client/json.ts'
import type { Field, Fields, Written } from '../../client/types.ts'
import { Icon } from '../../parts/icons.tsx'
import { LazyJsonEditor } from '../../parts/lazy-json-editor.ts'
import { Tabs } from '../../parts/tabs.tsx'
import { isPredefined } from '../../schema/columns.ts'
import { withPart } from '../../schema/draft.ts'
import { Conflict } from './conflict.tsx'
import { DocumentForm } from './document-form.tsx'
import { DocumentHistory } from './document-history.tsx'
import { type DocumentPanelProps, readDocument } from './document-source.ts'
import { DocumentReferences } from './document-references.tsx'

interface DocumentEditorProps extends DocumentPanelProps {
  /** As it was read; undefined for a new document. */
  readonly stored: Versioned | undefined
  readonly initial: JsonObject
}

type TabName = 'form' | 'json' | 'history' | 'references'

export function DocumentEditor(props: DocumentEditorProps): JSX.Element {
  const { metadata, initial, asOf, onClose, onWritten } = props
  const { entityInfo, schema } = metadata
  const target = { entity: entityInfo.name, version: schema.version.value }
  const key = printJson([target, asOf, props.stored ? initial['_id'] : ['new', props.copyOf]])
  const [left, setLeft] = useState(() => workLeftAt(key, props))
  /** What the draft is based on; undefined for a new document. If it is no longer stored, saving leads to the conflict. */
  const [stored, setStored] = useState(left ? left.stored : props.stored)
  const [draft, setDraft] = useState<JsonObject>(() => left?.draft ?? withoutSizes(initial, schema.fields))
  const [text, setText] = useState(left?.text)
  const [problems, setProblems] = useState<readonly ServiceProblem[]>([])
  const [theirs, setTheirs] = useState<Versioned>()
  const [tab, setTab] = useState<TabName>(left?.text === undefined ? 'form' : 'json')
  const [isBusy, setIsBusy] = useState(false)
  const [isSure, setIsSure] = useState(false)
  const isNew = stored === undefined
  const isReadOnly = asOf !== undefined
  const base = stored?.document ?? initial
  const isChanged = text !== undefined || !sameJson(withoutSizes(base, schema.fields), draft)
  const work: Work | undefined = isChanged ? { base, stored, draft, text } : undefined
  const name = isNew ? `a new ${target.entity}` : `${target.entity} ${textOf(initial['_id'])}`
  const isDone = useUnsaved({ key, name, work, isContinued: left !== undefined })
  /** Begins again with the document as it was read last. */
  const discard = (): void => {
    const latest = theirs ?? props.stored
    setStored(latest)
    setDraft(withoutSizes(latest?.document ?? initial, schema.fields))
    setText(undefined)
    setProblems([])
    setTheirs(undefined)
    setLeft(undefined)
  }

  /** The draft, from the JSON text where that was edited last. */
  const currentDraft = (): JsonObject | undefined => {
    if (text === undefined) return draft
    try {
      const parsed = parseJson(text)
      if (isObject(parsed)) return parsed
      setProblems([asProblem({ msg: 'a document is a JSON object' })])
    } catch (error) {
      setProblems([asProblem({ msg: `not valid JSON: ${(error as Error).message}` })])
    }
    return undefined
  }
  const write = async (send: (document: JsonObject) => Promise<Written>): Promise<void> => {
    const document = currentDraft()
    if (!document) return
    setIsBusy(true)
    try {
      const written = await send(document)
      const failed = written.failures[0]?.problems ?? []
      if (failed.some(({ errorCode }) => errorCode.endsWith(':ConcurrentUpdate'))) {
        setTheirs(await readDocument(target, stored!.document['_id'] ?? null))
      }
      setProblems(failed)
      if (failed.length === 0) done(written, { draft, text })
    } catch (failure) {
      noteFailure(failure)
      setProblems(problemsOf(failure))
    } finally {
      setIsBusy(false)
    }
  }
  const done = (written: Written, sent: Pick<Work, 'draft' | 'text'>): void => {
    const document = written.documents[0] ?? {}
    // row rules may hide the document as it is now; the service answers with an empty one then
    const isFound = document['_id'] !== undefined
    const text = isNew ? 'Inserted.' : 'Saved.'
    showToast({ kind: 'done', text: isFound ? text : `${text} You may not find the document.` })
    onWritten()
    isDone.current = isNew || !isFound
    if (!isFound) return onClose()
    if (isNew) return change({ doc: printJson(document['_id'] ?? null), from: undefined })
    setStored({ document, documentVersion: written.versions[0] ?? '' })
    setLeft(undefined)
    // what was typed while the service was writing stays
    setText((current) => (current === sent.text ? undefined : current))
    setDraft((current) => (current === sent.draft ? withoutSizes(document, schema.fields) : current))
  }
  const insert = (): Promise<void> => write((document) => client.insert(target, [document]))
  const save = (documentVersion = stored?.documentVersion ?? ''): Promise<void> =>
    write((document) => client.save(target, [{ document, documentVersion }]))
  const remove = async (): Promise<void> => {
    if (!stored) return
    try {
      if ((await client.remove(target, [stored])) === 0) {
        setProblems([
          asProblem({ msg: 'It was not deleted: somebody changed it meanwhile, or you may not delete it.' }),
        ])
        return
      }
      const { document } = stored
      const undo = async (): Promise<void> => {
        try {
          const { failures } = await client.insert(target, [withoutSizes(document, schema.fields)])
          const problem = failures[0]?.problems[0]
          if (problem) throw new Error(problem.msg)
          onWritten()
        } catch (error) {
          const text = `It could not be inserted again: ${(error as Error).message}`
          showToast({ kind: 'failed', text })
        }
      }
      showToast({ kind: 'done', text: 'Deleted.', action: { label: 'Undo', run: () => void undo() } })
      isDone.current = true
      onWritten()
      onClose()
    } catch (failure) {
      noteFailure(failure)
      setProblems(problemsOf(failure))
    }
  }

  const general = problems.filter(
    (problem) => tab !== 'form' || !hasPlace(fieldOf(problem).split('.'), schema.fields),
  )
  return (
    <form
      class="document"
      onSubmit={(event) => {
        event.preventDefault()
        void (isNew ? insert() : save())
      }}
    >
      <Tabs
        label="Document"
        tabs={tabsFor(props)}
        current={tab}
        onChoose={(next) => {
          const parsed = tab === 'json' ? currentDraft() : draft
          if (!parsed) return
          setDraft(parsed)
          setText(undefined)
          setTab(next)
        }}
      >
        {general.length > 0 && (
          <div class="notice failed" role="alert">
            {general.map((problem) => (
              <p key={problem.context + problem.msg}>
                {problem.msg} <code>{problem.errorCode}</code>
              </p>
            ))}
          </div>
        )}
        {left && isChanged && (
          <p class="notice row" role="status">
            These are the changes that you did not save.
            <button type="button" onClick={discard}>
              Discard them
            </button>
          </p>
        )}
        {theirs && (
          <Conflict
            mine={objectIn(text) ?? draft}
            theirs={theirs}
            onTakeTheirs={discard}
            onKeepMine={() => {
              setTheirs(undefined)
              void save(theirs.documentVersion)
            }}
          />
        )}
        {tab === 'form' && (
          <fieldset class="plain" disabled={isReadOnly}>
            <DocumentForm
              document={draft}
              fields={schema.fields}
              info={entityInfo}
              problems={problems}
              isNew={isNew}
              onChange={(path, value) => setDraft((before) => withPart(before, path, value) as JsonObject)}
            />
          </fieldset>
        )}
        {tab === 'json' && (
          <LazyJsonEditor
            label="Document as JSON"
            text={text ?? printJson(draft, 2)}
            isReadOnly={isReadOnly}
            onChange={setText}
          />
        )}
        {tab === 'history' && stored && (
          <DocumentHistory
            target={target}
            id={stored.document['_id'] ?? null}
            documentVersion={stored.documentVersion}
          />
        )}
        {tab === 'references' && stored && <DocumentReferences metadata={metadata} stored={stored} />}
      </Tabs>
      <footer>
        {stored && !isReadOnly && (
          <>
            <button
              type="button"
              class={isSure ? 'danger' : ''}
              onBlur={() => setIsSure(false)}
              onClick={() => (isSure ? void remove() : setIsSure(true))}
            >
              <Icon name="trash" />
              {isSure ? 'Really delete?' : 'Delete'}
            </button>
            <button
              type="button"
              onClick={() => change({ doc: 'new', from: printJson(stored.document['_id'] ?? null) })}
            >
              <Icon name="copy" />
              Copy
            </button>
          </>
        )}
        <span class="spacer" />
        {isReadOnly ? (
          <span class="hint">The past cannot be changed.</span>
        ) : (
          <button type="submit" class="primary" disabled={isBusy || !(isNew || isChanged)}>
            {isBusy ? 'Writing…' : isNew ? 'Insert' : 'Save'}
          </button>
        )}
      </footer>
    </form>
  )
}

/** The document that a text is, as far as it can be read. */
function objectIn(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined
  try {
    const value = parseJson(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Of a user who left it before it was saved. */
interface Work {
  /** What was changed. */
  readonly base: JsonObject
  /** The same with its version; undefined for a new document. */
  readonly stored: Versioned | undefined
  readonly draft: JsonObject
  readonly text: string | undefined
}

/**
 * None where the document may be read with other rights: by somebody who signed in later, or because the same version of it
 * looks different by now.
 */
function workLeftAt(
  key: string,
  { initial, stored }: Pick<DocumentEditorProps, 'initial' | 'stored'>,
): Work | undefined {
  const left = unsavedAt(key)
  if (!left) return undefined
  const work = left.work as Work
  if (sameJson(work.base, initial)) return work
  const isSameVersion = stored !== undefined && stored.documentVersion === work.stored?.documentVersion
  return left.isSameUser && !isSameVersion ? work : undefined
}

function tabsFor({ metadata, stored }: DocumentEditorProps): readonly { name: TabName; label: string }[] {
  const hasReferences = JSON.stringify(metadata.schema.fields).includes('"type":"reference"')
  return [
    { name: 'form', label: 'Form' },
    { name: 'json', label: 'JSON' },
    ...(stored && metadata.entityInfo.history ? [{ name: 'history', label: 'History' } as const] : []),
    ...(stored && hasReferences ? [{ name: 'references', label: 'References' } as const] : []),
  ]
}

/** A proxy before the service may refuse without any of its errors. */
function problemsOf(failure: unknown): readonly ServiceProblem[] {
  if (failure instanceof RequestFailure && failure.problems.length > 0) return failure.problems
  return [asProblem({ msg: failure instanceof Error ? failure.message : String(failure) })]
}

/** Whether the form shows errors of this path. */
function hasPlace([name = '', ...inner]: readonly string[], fields: Fields): boolean {
  const field = fields[name]
  if (!field || field.type === 'reference' || isPredefined(name)) return false
  if (inner.length === 0) return true
  const { items } = field
  if (!items) return hasPlace(inner, field.fields ?? {})
  // elements that are objects show the errors of their fields only
  return items.fields ? hasPlace(inner.slice(1), items.fields) : inner.length === 1
}

/** Sizes of arrays are computed on read; the service would refuse wrong ones. What no field describes stays as it is. */
function withoutSizes(document: JsonObject, fields: Fields): JsonObject {
  const kept = Object.entries(document).filter(([name]) => !name.endsWith('#'))
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutSizesIn(value, fields[name])]))
}

function withoutSizesIn(value: Json, field: Field | undefined): Json {
  if (isArray(value) && field?.items) return value.map((each) => withoutSizesIn(each, field.items))
  return isObject(value) && field?.fields ? withoutSizes(value, field.fields) : value
}
