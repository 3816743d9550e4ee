/** Hooks in a form: which changes of which fields create events. */
import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { type Json, type JsonObject, isArray, textOf } from '../../client/json.ts'
import { Check } from '../../parts/check.tsx'
import { FieldPathInput, PathList } from '../../parts/field-path-input.tsx'
import { Icon } from '../../parts/icons.tsx'
import { JsonInput } from '../../parts/json-input.tsx'
import type { FieldPath } from '../../schema/field-paths.ts'
import {
  ACTIONS,
  NEW_HOOK,
  configurationIn,
  includedIn,
  isHook,
  projectionOf,
  withAction,
  withConfigured,
} from '../../schema/hook-draft.ts'
import { isSet, withMember } from '../../schema/members.ts'
import { HOOKS_AT, type MetadataProblem } from '../../schema/metadata-problem.ts'
import { PartList } from './part-list.tsx'

interface HookInputsProps {
  readonly hooks: Json | undefined
  readonly paths: readonly FieldPath[]
  readonly problem: MetadataProblem | undefined
  readonly onChange: (hooks: Json) => void
}

export function HookInputs({ hooks = [], paths, problem, onChange }: HookInputsProps): JSX.Element {
  const list = useId()
  if (!isArray(hooks)) return <JsonInput label="Hooks as JSON" value={hooks} onChange={onChange} />
  return (
    <>
      <PathList id={list} paths={paths.map(({ path }) => path)} />
      <PartList
        parts={hooks}
        at={HOOKS_AT}
        problem={problem}
        addLabel="Add a hook"
        newPart={NEW_HOOK}
        labelOf={labelOf}
        onChange={onChange}
      >
        {(hook, change) =>
          isHook(hook) ? (
            <HookInput hook={hook} list={list} onChange={change} />
          ) : (
            <JsonInput label="Hook as JSON" value={hook} onChange={change} />
          )
        }
      </PartList>
    </>
  )
}

function labelOf(hook: Json): string {
  const name = isHook(hook) ? textOf(hook['name']) : ''
  return name === '' ? 'Hook without a name' : `Hook ${name}`
}

interface HookInputProps {
  readonly hook: JsonObject
  readonly list: string
  readonly onChange: (hook: JsonObject) => void
}

function HookInput({ hook, list, onChange }: HookInputProps): JSX.Element {
  const actions = isArray(hook['actions']) ? hook['actions'] : []
  return (
    <>
      <div class="row">
        <label>
          Name
          <input
            type="text"
            value={textOf(hook['name'])}
            onInput={(event) => onChange({ ...hook, name: event.currentTarget.value })}
          />
        </label>
        {ACTIONS.map((action) => (
          <Check
            key={action}
            label={`on ${action}`}
            isChecked={actions.includes(action)}
            onChange={(isChosen) => onChange(withAction(hook, action, isChosen))}
          />
        ))}
      </div>
      <Configuration hook={hook} list={list} onChange={onChange} />
      <ProjectionInputs
        label="Projection"
        hint="none; where no fields are watched, those of the projection are"
        projection={hook['projection']}
        list={list}
        onChange={(next) => onChange(withMember(hook, 'projection', next))}
      />
    </>
  )
}

function Configuration({ hook, list, onChange }: HookInputProps): JSX.Element {
  const configuration = configurationIn(hook)
  if (!configuration)
    return (
      <JsonInput
        label="Configuration, of another program"
        value={hook['configuration'] ?? null}
        onChange={(next) => onChange({ ...hook, configuration: next })}
      />
    )
  const set = (name: string, value: Json | undefined): void => onChange(withConfigured(hook, name, value))
  return (
    <>
      <div class="row">
        <KindSelect kind={configuration['kind']} onChange={(kind) => set('kind', kind)} />
        <Check
          label="the order of array elements counts as a change"
          isChecked={isSet(configuration['arrayOrderingSignificant'])}
          onChange={(isOrdered) => set('arrayOrderingSignificant', isOrdered)}
        />
      </div>
      <ProjectionInputs
        label="Watched fields"
        hint={hook['projection'] === undefined ? 'all fields' : 'those of the projection'}
        projection={configuration['watchProjection']}
        list={list}
        onChange={(next) => set('watchProjection', next)}
      />
      <ProjectionInputs
        label="Included fields"
        hint="no further fields"
        projection={configuration['includeProjection']}
        list={list}
        onChange={(next) => set('includeProjection', next)}
      />
    </>
  )
}

const KINDS = ['notification', 'audit']

interface KindSelectProps {
  readonly kind: Json | undefined
  readonly onChange: (kind: string | undefined) => void
}

function KindSelect({ kind, onChange }: KindSelectProps): JSX.Element {
  const text = textOf(kind)
  return (
    <label>
      Kind
      <select value={text} onChange={(event) => onChange(event.currentTarget.value || undefined)}>
        <option value="">not named</option>
        {text !== '' && !KINDS.includes(text) && <option>{text}</option>}
        {KINDS.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
    </label>
  )
}

interface ProjectionInputsProps {
  readonly label: string
  /** What holds without fields. */
  readonly hint: string
  readonly projection: Json | undefined
  readonly list: string
  readonly onChange: (projection: Json | undefined) => void
}

function ProjectionInputs({ label, hint, projection, list, onChange }: ProjectionInputsProps): JSX.Element {
  const parts = includedIn(projection)
  if (!parts) return <JsonInput label={label} value={projection ?? null} onChange={onChange} />
  const setParts = (next: readonly JsonObject[]): void => onChange(projectionOf(projection, next))
  return (
    <div class="projection" role="group" aria-label={label}>
      <span>
        {label} {parts.length === 0 && <small>{hint}</small>}
      </span>
      {parts.map((part, i) => (
        <div key={i} class="row">
          <FieldPathInput
            label="Field"
            list={list}
            value={textOf(part['field'])}
            onChange={(field) => setParts(parts.with(i, { ...part, field }))}
          />
          <Check
            label="with everything inside"
            isChecked={isSet(part['recursive'])}
            onChange={(recursive) => setParts(parts.with(i, { ...part, recursive }))}
          />
          <button
            type="button"
            class="quiet icon-only"
            aria-label={`Remove ${textOf(part['field'])} from ${label.toLowerCase()}`}
            onClick={() => setParts(parts.toSpliced(i, 1))}
          >
            <Icon name="trash" />
          </button>
        </div>
      ))}
      <button type="button" class="quiet add-part" onClick={() => setParts([...parts, { field: '' }])}>
        <Icon name="plus" />
        Add to {label.toLowerCase()}
      </button>
    </div>
  )
}
