/** The fields of a schema in a form: add, remove, rename, type, constraints, access. */
import { type JSX, createContext } from 'preact'
import { useContext, useState } from 'preact/hooks'
import { type JsonObject, isObject, textOf } from '../../client/json.ts'
import { Icon } from '../../parts/icons.tsx'
import { isPredefined } from '../../schema/columns.ts'
import {
  FIELD_TYPES,
  ITEM_TYPES,
  constraintText,
  constraintValue,
  constraintsFor,
  freshName,
  renamed,
  withConstraint,
  withType,
} from '../../schema/metadata-draft.ts'
import type { MetadataProblem } from '../../schema/metadata-problem.ts'
import { AccessInputs } from './access-inputs.tsx'
import { ReferenceInputs } from './reference-inputs.tsx'

/** What fields at every depth need to know. */
interface FieldContext {
  readonly enums: readonly string[]
  readonly problem: MetadataProblem | undefined
}

const Context = createContext<FieldContext>({ enums: [], problem: undefined })

interface FieldsFormProps extends FieldContext {
  readonly fields: JsonObject
  readonly onChange: (fields: JsonObject) => void
}

export function FieldsForm({ enums, problem, fields, onChange }: FieldsFormProps): JSX.Element {
  return (
    <Context.Provider value={{ enums, problem }}>
      <FieldList fields={fields} at="/schema/fields" path="" isInArray={false} onChange={onChange} />
    </Context.Provider>
  )
}

interface FieldListProps {
  readonly fields: JsonObject
  /** The JSON pointer of the fields in the metadata document. */
  readonly at: string
  readonly path: string
  readonly isInArray: boolean
  readonly onChange: (fields: JsonObject) => void
}

const FIELD_OPERATIONS = ['find', 'insert', 'update'] as const

function FieldList({ fields, at, path, isInArray, onChange }: FieldListProps): JSX.Element {
  const names = Object.keys(fields).filter((name) => !isPredefined(name))
  return (
    <div class="schema-fields">
      {names.map((name, i) => (
        // by place: a field keeps the focus while it is renamed
        <FieldItem
          key={i}
          name={name}
          field={isObject(fields[name]) ? fields[name] : {}}
          at={`${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`}
          path={`${path}${name}`}
          isInArray={isInArray}
          isTaken={(other) => other !== name && Object.hasOwn(fields, other)}
          onRename={(to) => onChange(renamed(fields, name, to))}
          onChange={(field) => onChange({ ...fields, [name]: field })}
          onRemove={() => {
            const { [name]: _, ...others } = fields
            onChange(others)
          }}
        />
      ))}
      <button type="button" onClick={() => onChange({ ...fields, [freshName(fields)]: { type: 'string' } })}>
        <Icon name="plus" />
        Add a field{path !== '' && ` to ${path.replace(/\.$/, '')}`}
      </button>
    </div>
  )
}

interface FieldItemProps {
  readonly name: string
  readonly field: JsonObject
  readonly at: string
  readonly path: string
  readonly isInArray: boolean
  readonly isTaken: (name: string) => boolean
  readonly onRename: (name: string) => void
  readonly onChange: (field: JsonObject) => void
  readonly onRemove: () => void
}

function FieldItem(props: FieldItemProps): JSX.Element {
  const { field, at, path, isInArray, onChange, onRemove } = props
  const { problem } = useContext(Context)
  const type = textOf(field['type'])
  const items = isObject(field['items']) ? field['items'] : {}
  const own = problem?.pointer !== undefined && belongsTo(problem.pointer, at) ? problem.message : undefined
  return (
    <div class={own === undefined ? 'schema-field' : 'schema-field wrong'} role="group" aria-label={path}>
      <div class="row">
        <NameInput {...props} />
        <TypeSelect
          label="Type"
          value={type}
          types={isInArray ? FIELD_TYPES.filter((each) => each !== 'reference') : FIELD_TYPES}
          onChange={(next) => onChange(withType(field, next, isInArray))}
        />
        {type === 'array' && (
          <TypeSelect
            label="Elements"
            value={textOf(items['type'])}
            types={ITEM_TYPES}
            onChange={(next) => onChange({ ...field, items: withType(items, next, true) })}
          />
        )}
        <span class="spacer" />
        <button type="button" class="quiet icon-only" aria-label={`Remove ${path}`} onClick={onRemove}>
          <Icon name="trash" />
        </button>
      </div>
      {own !== undefined && (
        <p class="problem" role="alert">
          {own}
        </p>
      )}
      {type === 'reference' && <ReferenceInputs field={field} path={path} onChange={onChange} />}
      <Details {...props} type={type} />
      {type === 'object' && (
        <FieldList
          fields={isObject(field['fields']) ? field['fields'] : {}}
          at={`${at}/fields`}
          path={`${path}.`}
          isInArray={isInArray}
          onChange={(fields) => onChange({ ...field, fields })}
        />
      )}
      {type === 'array' && items['type'] === 'object' && (
        <FieldList
          fields={isObject(items['fields']) ? items['fields'] : {}}
          at={`${at}/items/fields`}
          path={`${path}.*.`}
          isInArray
          onChange={(fields) => onChange({ ...field, items: { ...items, fields } })}
        />
      )}
    </div>
  )
}

/** Whether the pointer leads to the field itself, not to one inside it. */
function belongsTo(pointer: string, at: string): boolean {
  if (pointer !== at && !pointer.startsWith(`${at}/`)) return false
  return !/^\/(?:items\/)?fields\//.test(pointer.slice(at.length))
}

/** A new name counts when the input is left: two fields of one name, on the way to another one, would become one. */
function NameInput({ name, path, isTaken, onRename }: FieldItemProps): JSX.Element {
  const [draft, setDraft] = useState<string>()
  const isWrong = draft !== undefined && (draft === '' || isTaken(draft))
  return (
    <label>
      Name
      <input
        type="text"
        value={draft ?? name}
        aria-invalid={isWrong}
        title={isWrong ? `${path} needs a name that no other field has` : undefined}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onChange={() => {
          if (draft !== undefined && !isWrong) onRename(draft)
          setDraft(undefined)
        }}
      />
    </label>
  )
}

interface TypeSelectProps {
  readonly label: string
  readonly value: string
  readonly types: readonly string[]
  readonly onChange: (type: string) => void
}

function TypeSelect({ label, value, types, onChange }: TypeSelectProps): JSX.Element {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {!types.includes(value) && <option>{value}</option>}
        {types.map((type) => (
          <option key={type}>{type}</option>
        ))}
      </select>
    </label>
  )
}

/** Constraints and access; what the form does not know stays as it is, and is changed as JSON. */
function Details({
  field,
  path,
  type,
  isInArray,
  onChange,
}: FieldItemProps & { readonly type: string }): JSX.Element {
  const { enums } = useContext(Context)
  // hundreds of fields have thousands of inputs, which take seconds to be drawn
  const [isOpen, setIsOpen] = useState(false)
  const constraints = isObject(field['constraints']) ? field['constraints'] : {}
  const access = isObject(field['access']) ? field['access'] : {}
  const restricted = Object.keys(access).filter((name) => rolesCount(access[name]) > 0)
  const facts = [...Object.keys(constraints), ...restricted.map((name) => `${name} restricted`)]
  return (
    <details class="schema-details" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>
        Constraints and access<span class="sr-only"> of {path}</span> <small>{facts.join(', ')}</small>
      </summary>
      {isOpen && (
        <div class="row">
          {constraintsFor(type, isInArray).map(({ name, label, kind }) =>
            kind === 'flag' ? (
              <label key={name} class="check">
                <input
                  type="checkbox"
                  checked={constraints[name] === true}
                  onChange={(event) =>
                    onChange(withConstraint(field, name, event.currentTarget.checked ? true : undefined))
                  }
                />
                {label}
              </label>
            ) : kind === 'enum' ? (
              <label key={name}>
                {label}
                <select
                  value={textOf(constraints[name])}
                  onChange={(event) =>
                    onChange(withConstraint(field, name, constraintValue(kind, event.currentTarget.value)))
                  }
                >
                  <option value="">any text</option>
                  {enums.map((each) => (
                    <option key={each}>{each}</option>
                  ))}
                </select>
              </label>
            ) : (
              <label key={name}>
                {label}
                <input
                  type="text"
                  inputMode={kind === 'text' ? 'text' : 'decimal'}
                  value={constraintText(constraints[name])}
                  onInput={(event) =>
                    onChange(withConstraint(field, name, constraintValue(kind, event.currentTarget.value)))
                  }
                />
              </label>
            ),
          )}
        </div>
      )}
      {isOpen && !isInArray && (
        <AccessInputs
          operations={FIELD_OPERATIONS}
          access={field['access']}
          placeholder="as the entity"
          onChange={(next) => {
            const { access: _, ...rest } = field
            onChange(next === undefined ? rest : { ...rest, access: next })
          }}
        />
      )}
    </details>
  )
}

function rolesCount(list: unknown): number {
  return Array.isArray(list) ? list.length : 0
}
