/** A form made from the schema. Errors of the service stand at the field that they belong to. */
import type { JSX } from 'preact'
import { useContext, useState } from 'preact/hooks'
import { createContext } from 'preact'
import { type ServiceProblem, fieldOf } from '../../client/failure.ts'
import { type Json, isArray, textOf } from '../../client/json.ts'
import type { EntityInfo, Field, Fields } from '../../client/types.ts'
import { Icon } from '../../parts/icons.tsx'
import { isPredefined } from '../../schema/columns.ts'
import { type Path, partAt, printPath } from '../../schema/draft.ts'
import { FieldControl } from './field-control.tsx'

export interface FormContext {
  readonly document: Json
  readonly info: EntityInfo
  readonly problems: readonly ServiceProblem[]
  readonly isNew: boolean
  readonly onChange: (path: Path, value: Json | undefined) => void
}

const Context = createContext<FormContext | undefined>(undefined)

function useForm(): FormContext {
  const context = useContext(Context)
  if (!context) throw new Error('a field needs a form around it')
  return context
}

export function DocumentForm({ fields, ...context }: FormContext & { readonly fields: Fields }): JSX.Element {
  const names = Object.keys(fields).filter((name) => name !== '_id')
  const ordered = Object.hasOwn(fields, '_id') ? ['_id', ...names] : names
  return (
    <Context.Provider value={context}>
      <FieldList fields={fields} names={ordered} path={[]} />
    </Context.Provider>
  )
}

interface FieldListProps {
  readonly fields: Fields
  readonly names?: readonly string[]
  readonly path: Path
}

function FieldList({ fields, names = Object.keys(fields), path }: FieldListProps): JSX.Element {
  const shown = names.filter(
    (name) => !isPredefined(printPath([...path, name])) && fields[name]!.type !== 'reference',
  )
  return (
    <div class="fields">
      {shown.map((name) => (
        <FormField key={name} name={name} field={fields[name]!} path={[...path, name]} />
      ))}
    </div>
  )
}

interface FormFieldProps {
  readonly name: string
  readonly field: Field
  readonly path: Path
}

function FormField(props: FormFieldProps): JSX.Element {
  const { type, items, fields } = props.field
  if (type === 'object' && fields) return <ObjectField {...props} fields={fields} />
  if (type === 'array' && items) return <ArrayField {...props} items={items} />
  return <SimpleField {...props} />
}

function SimpleField({ name, field, path }: FormFieldProps): JSX.Element {
  const { document, info, problems, isNew, onChange } = useForm()
  const value = partAt(document, path)
  const id = `field-${printPath(path)}`
  const own = problems.filter((problem) => fieldOf(problem) === printPath(path))
  const enumName = field.constraints?.['enum']
  const enumValues = info.enums?.find((each) => each.name === enumName)?.values
  const isFixed = name === '_id' && !isNew
  const isElement = typeof path.at(-1) === 'number'
  return (
    <div class={own.length > 0 ? 'field wrong' : 'field'}>
      <div class="field-head">
        <label for={id}>{name}</label>
        {isRequired(field) && <abbr title="required">*</abbr>}
        <small title={field.description ?? undefined}>{hintFor(field)}</small>
        {value !== undefined && !isFixed && (
          <span class="field-actions">
            {value !== null && (
              <button type="button" class="quiet" onClick={() => onChange(path, null)}>
                null<span class="sr-only"> for {name}</span>
              </button>
            )}
            <button type="button" class="quiet" onClick={() => onChange(path, undefined)}>
              unset<span class="sr-only"> {name}</span>
            </button>
          </span>
        )}
      </div>
      {isFixed ? (
        <output id={id}>{textOf(value)}</output>
      ) : (
        <FieldControl
          id={id}
          field={field}
          value={value}
          enumValues={enumValues}
          isInvalid={own.length > 0}
          describedBy={`${id}-problem`}
          // an emptied element keeps its place: without it, the next one would be typed into
          valueWhenEmpty={isElement ? null : undefined}
          onChange={(next) => onChange(path, next)}
        />
      )}
      <div id={`${id}-problem`}>
        {own.map(({ msg }) => (
          <p key={msg} class="problem">
            {msg}
          </p>
        ))}
      </div>
    </div>
  )
}

function isRequired({ constraints = {}, valueGenerator }: Field): boolean {
  return (
    (constraints['required'] === true || constraints['identity'] === true) && valueGenerator === undefined
  )
}

/** The type and the constraints, in a few words. */
function hintFor({ type, constraints = {}, valueGenerator }: Field): string {
  const { minLength, maxLength, minimum, maximum, identity, matches } = constraints
  return [
    type,
    identity === true && 'identity',
    range(minLength, maxLength, 'characters'),
    range(minimum, maximum, ''),
    matches !== undefined && `matches ${textOf(matches)}`,
    valueGenerator !== undefined && 'generated when not set',
  ]
    .filter(Boolean)
    .join(' · ')
}

function range(least: Json | undefined, most: Json | undefined, unit: string): string {
  if (least === undefined && most === undefined) return ''
  const [from, to] = [least === undefined ? '' : textOf(least), most === undefined ? '' : textOf(most)]
  return `${from === '' ? `at most ${to}` : to === '' ? `at least ${from}` : `${from} to ${to}`} ${unit}`.trim()
}

function ObjectField({ name, path, fields }: FormFieldProps & { readonly fields: Fields }): JSX.Element {
  const { problems } = useForm()
  const own = problems.filter((problem) => fieldOf(problem) === printPath(path))
  return (
    <fieldset class="group">
      <legend>{name}</legend>
      {own.map(({ msg }) => (
        <p key={msg} class="problem">
          {msg}
        </p>
      ))}
      <FieldList fields={fields} path={path} />
    </fieldset>
  )
}

/** Elements that are shown at a time: the controls of thousands would take minutes to be drawn. */
const SHOWN_ELEMENTS = 50

function ArrayField({ name, path, items }: FormFieldProps & { readonly items: Field }): JSX.Element {
  const { document, problems, onChange } = useForm()
  const [wanted, setWanted] = useState(0)
  const value = partAt(document, path)
  const list = isArray(value) ? value : []
  const first = Math.min(wanted, lastStart(list.length))
  const shown = list.slice(first, first + SHOWN_ELEMENTS).map((_, i) => first + i)
  const own = problems.filter((problem) => fieldOf(problem) === printPath(path))
  const elsewhere = problems.flatMap((problem) => {
    const place = elementOf(problem, path)
    return place === undefined || shown.includes(place) ? [] : [{ place, msg: problem.msg }]
  })
  const swap = (i: number): void => onChange(path, list.toSpliced(i, 2, list[i + 1]!, list[i]!))
  return (
    <fieldset class="group list">
      <legend>
        {name} <small>{list.length}</small>
      </legend>
      {own.map(({ msg }) => (
        <p key={msg} class="problem">
          {msg}
        </p>
      ))}
      {elsewhere.map(({ place, msg }) => (
        <p key={`${place} ${msg}`} class="problem">
          {name} {place + 1}: {msg}
        </p>
      ))}
      {list.length > SHOWN_ELEMENTS && (
        <label>
          Elements of {name} that are shown
          <select value={first} onChange={(event) => setWanted(Number(event.currentTarget.value))}>
            {startsIn(list.length).map((start) => (
              <option key={start} value={start}>
                {start + 1} to {Math.min(start + SHOWN_ELEMENTS, list.length)}
              </option>
            ))}
          </select>
        </label>
      )}
      {shown.map((i) => (
        // elements have no identity of their own here; their place is it
        <div key={i} class="element">
          <div class="element-body">
            {items.type === 'object' && items.fields ? (
              <FieldList fields={items.fields} path={[...path, i]} />
            ) : (
              <SimpleField name={`${name} ${i + 1}`} field={items} path={[...path, i]} />
            )}
          </div>
          <div class="element-actions">
            <button
              type="button"
              class="quiet icon-only"
              aria-label={`Move ${name} ${i + 1} down`}
              disabled={i === list.length - 1}
              onClick={() => swap(i)}
            >
              ↓
            </button>
            <button
              type="button"
              class="quiet icon-only"
              aria-label={`Remove ${name} ${i + 1}`}
              onClick={() => onChange([...path, i], undefined)}
            >
              <Icon name="trash" />
            </button>
          </div>
        </div>
      ))}
      <button
        type="button"
        onClick={() => {
          onChange(path, [...list, items.type === 'object' ? {} : firstValue(items)])
          setWanted(lastStart(list.length + 1))
        }}
      >
        <Icon name="plus" />
        Add to {name}
      </button>
    </fieldset>
  )
}

/** Where the last elements that are shown together begin. */
function lastStart(length: number): number {
  return Math.max(0, Math.ceil(length / SHOWN_ELEMENTS) - 1) * SHOWN_ELEMENTS
}

function startsIn(length: number): readonly number[] {
  return Array.from({ length: Math.ceil(length / SHOWN_ELEMENTS) }, (_, i) => i * SHOWN_ELEMENTS)
}

/** The place of the element that an error is about, or is inside of. */
function elementOf(problem: ServiceProblem, path: Path): number | undefined {
  const prefix = `${printPath(path)}.`
  const field = fieldOf(problem)
  const place = field.startsWith(prefix) ? /^\d+/.exec(field.slice(prefix.length))?.[0] : undefined
  return place === undefined ? undefined : Number(place)
}

/** A new element starts empty where empty is a value, and as null elsewhere. */
function firstValue({ type }: Field): Json {
  return type === 'string' || type === 'uid' ? '' : null
}
