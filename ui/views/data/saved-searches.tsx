/** Saved searches of an entity: run one, with values for its parameters, or save the filter of the table. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { noteFailure, useLoaded } from '../../app/loading.ts'
import { change } from '../../app/place.ts'
import { client } from '../../app/session.ts'
import { showToast } from '../../app/toast.tsx'
import { asList, asObject } from '../../client/data-client.ts'
import {
  type Json,
  type JsonObject,
  isArray,
  isObject,
  parseJson,
  printJson,
  textOf,
} from '../../client/json.ts'
import type { Find } from '../../client/types.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Failure, Progress } from '../../parts/notices.tsx'
import { printSort, sortIn } from './sorting.ts'

interface SavedSearchesProps {
  readonly find: Find
  readonly onClose: () => void
}

export function SavedSearches({ find, onClose }: SavedSearchesProps): JSX.Element {
  const searches = useLoaded(() => client.searches(find.entity), [find.entity])
  const [chosen, setChosen] = useState<JsonObject>()
  const show = (search: JsonObject, values: Values): void => {
    const sort = sortIn(search['sort'])
    change({ f: filterOf(search, values), ...(sort && { sort: printSort(sort) }), doc: undefined })
    onClose()
  }
  return (
    <Dialog title={`Saved searches of ${find.entity}`} onClose={onClose}>
      {searches.failure !== undefined && <Failure failure={searches.failure} onRetry={searches.reload} />}
      {!searches.value && searches.isLoading && <Progress label="Loading searches" />}
      {searches.value?.length === 0 && (
        <p class="hint">None yet. Filter the table, then save the filter here.</p>
      )}
      <ul class="searches">
        {searches.value?.map((search) => (
          <li key={textOf(search['_id'])}>
            <button
              type="button"
              onClick={() => (parametersOf(search).length === 0 ? show(search, {}) : setChosen(search))}
            >
              {textOf(search['name'])}
            </button>
            <code>{filterOf(search, {})}</code>
          </li>
        ))}
      </ul>
      {chosen && (
        <Parameters key={textOf(chosen['_id'])} search={chosen} onRun={(values) => show(chosen, values)} />
      )}
      <SaveForm find={find} onSaved={searches.reload} />
    </Dialog>
  )
}

interface ParametersProps {
  readonly search: JsonObject
  readonly onRun: (values: Values) => void
}

function Parameters({ search, onRun }: ParametersProps): JSX.Element {
  const parameters = parametersOf(search)
  const [values, setValues] = useState<Values>(
    Object.fromEntries(
      parameters.map(({ name, defaultValue }) => [
        textOf(name),
        isAbsent(defaultValue) ? '' : textOf(defaultValue),
      ]),
    ),
  )
  return (
    <form
      aria-label={`Parameters of ${textOf(search['name'])}`}
      onSubmit={(event) => {
        event.preventDefault()
        onRun(withDefaults(parameters, values))
      }}
    >
      {parameters.map(({ name, type = 'string', optional, defaultValue }) => (
        <label key={textOf(name)}>
          {textOf(name)} <small>{textOf(type)}</small>
          <input
            type="text"
            // only a text that is not optional may be empty
            required={optional === true ? isAbsent(defaultValue) : type !== 'string'}
            value={values[textOf(name)] ?? ''}
            onInput={(event) => setValues({ ...values, [textOf(name)]: event.currentTarget.value })}
          />
        </label>
      ))}
      <button type="submit" class="primary">
        Run
      </button>
    </form>
  )
}

function SaveForm({
  find,
  onSaved,
}: {
  readonly find: Find
  readonly onSaved: () => void
}): JSX.Element | null {
  const [name, setName] = useState('')
  const query = find.query ?? find.filter
  if (query === undefined) return null
  const save = async (): Promise<void> => {
    try {
      const { failures } = await client.insert({ entity: 'savedSearch' }, [
        { name, entity: find.entity, query, ...(find.sort !== undefined && { sort: find.sort }) },
      ])
      const problem = failures[0]?.problems[0]
      if (problem) throw new Error(problem.msg)
      showToast({ kind: 'done', text: `Saved the search ${name}.` })
      onSaved()
    } catch (failure) {
      noteFailure(failure)
      showToast({ kind: 'failed', text: (failure as Error).message })
    }
  }
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <label>
        Save the current filter as
        <input type="text" required value={name} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <button type="submit">Save</button>
    </form>
  )
}

function parametersOf(search: JsonObject): readonly JsonObject[] {
  return asList(search['parameters']).map(asObject)
}

/** What is optional and left empty takes its default value, as where the service runs the search. */
function withDefaults(parameters: readonly JsonObject[], values: Values): Values {
  const defaults = parameters
    .filter(({ name, optional }) => optional === true && values[textOf(name)] === '')
    .map(({ name, defaultValue }) => [textOf(name), textOf(defaultValue)])
  return { ...values, ...Object.fromEntries(defaults) }
}

function isAbsent(value: Json | undefined): boolean {
  return value === undefined || value === null
}

/** The query with values for its parameters, as the filter box takes it. It is stored as JSON, as the text of JSON, or as a filter. */
function filterOf(search: JsonObject, values: Values): string {
  const query = search['query'] ?? null
  if (typeof query !== 'string') return printJson(filled(query, values))
  if (!JSON_TEXT.test(query)) return withValues(query, values, (value) => printJson(value).slice(1, -1))
  try {
    return printJson(filled(parseJson(withQuotes(query)), values))
  } catch {
    // the filter box says what is wrong with it
    return query
  }
}

type Values = Readonly<Record<string, string>>

/** How the text of JSON begins; no filter does. */
const JSON_TEXT = /^\s*(?:$|["[{]|\$\{)/
const PLACEHOLDER = /\$\{([^{}]*)\}/g

/** In the text of JSON, placeholders may also stand outside quotes. */
function withQuotes(text: string): string {
  return text.replaceAll(/"(?:[^"\\]|\\.)*"?|\$\{[^{}"]*\}/gs, (token) =>
    token.startsWith('"') ? token : printJson(token),
  )
}

/** With values in place of `${name}`; the service converts them to the types of the fields. */
function filled(query: Json, values: Values): Json {
  if (typeof query === 'string') return withValues(query, values, (value) => value)
  if (isArray(query)) return query.map((each) => filled(each, values))
  if (!isObject(query)) return query
  return Object.fromEntries(Object.entries(query).map(([name, each]) => [name, filled(each, values)]))
}

function withValues(text: string, values: Values, print: (value: string) => string): string {
  return text.replaceAll(PLACEHOLDER, (written, name: string) => {
    const value = values[name.trim()]
    return value === undefined ? written : print(value)
  })
}
