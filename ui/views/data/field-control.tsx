/** The control for one simple field. Values keep every digit: numbers are edited as text. */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Json, isNumber, numberIn, parseJson, printJson, sameJson, textOf } from '../../client/json.ts'
import type { Field } from '../../client/types.ts'
import { toRfc3339 } from '../../schema/dates.ts'
import { withLineEndsOf, withLineFeeds } from '../../schema/line-ends.ts'

export interface ControlProps {
  readonly id: string
  readonly field: Field
  readonly value: Json | undefined
  readonly enumValues: readonly string[] | undefined
  readonly isInvalid: boolean
  readonly describedBy: string
  /** What an emptied control stands for; no value when absent. */
  readonly valueWhenEmpty?: null | undefined
  readonly onChange: (value: Json | undefined) => void
}

export function FieldControl(props: ControlProps): JSX.Element {
  const { field, enumValues } = props
  if (enumValues) return <Choice {...props} options={enumValues} />
  switch (field.type) {
    case 'boolean':
      return <Choice {...props} options={['true', 'false']} />
    case 'integer':
    case 'double':
    case 'biginteger':
    case 'bigdecimal':
      return <TextControl {...props} toText={textOf} toValue={(text) => numberIn(text.trim()) ?? text} />
    case 'date':
      return <DateControl {...props} />
    case 'any':
      return <JsonControl {...props} />
    default:
      return <TextControl {...props} toText={textOf} toValue={(text) => text} />
  }
}

interface TextControlProps extends ControlProps {
  readonly toText: (value: Json) => string
  readonly toValue: (text: string) => Json
}

function TextControl({ toText, toValue, ...props }: TextControlProps): JSX.Element {
  const { id, value, field, onChange } = props
  const text = value === undefined || value === null ? '' : toText(value)
  const isNumeric = isNumber(value) || ['integer', 'double', 'biginteger', 'bigdecimal'].includes(field.type)
  const isTall = useRef(false)
  // not while it is typed into: another element would not have the focus
  if (document.activeElement?.id !== id) isTall.current = text.length > 60 || /[\r\n]/.test(text)
  const common = {
    id,
    placeholder: value === null ? 'null' : 'not set',
    'aria-invalid': props.isInvalid,
    'aria-describedby': props.describedBy,
    spellcheck: false,
  }
  // an emptied number or date has no value; an emptied text is the empty text
  const accept = (next: string): void =>
    onChange(next === '' && field.type !== 'string' ? props.valueWhenEmpty : toValue(next))
  if (!isNumeric && isTall.current) {
    return (
      <textarea
        {...common}
        rows={Math.min(12, withLineFeeds(text).split('\n').length + 2)}
        value={withLineFeeds(text)}
        onInput={(event) => accept(withLineEndsOf(text, event.currentTarget.value))}
      />
    )
  }
  return (
    <input
      {...common}
      type="text"
      inputMode={isNumeric ? 'decimal' : 'text'}
      class={isNumeric ? 'numeric' : ''}
      value={text}
      onInput={(event) => accept(event.currentTarget.value)}
    />
  )
}

function DateControl(props: ControlProps): JSX.Element {
  return (
    <div class="with-button">
      <TextControl {...props} toText={(value) => toRfc3339(textOf(value))} toValue={(text) => text} />
      <button type="button" onClick={() => props.onChange(new Date().toISOString())}>
        Now
      </button>
    </div>
  )
}

function Choice({
  id,
  value,
  field,
  options,
  isInvalid,
  describedBy,
  valueWhenEmpty,
  onChange,
}: ControlProps & { readonly options: readonly string[] }): JSX.Element {
  const current = value === undefined ? '' : value === null ? 'null' : textOf(value)
  const isKnown = current === '' || current === 'null' || options.includes(current)
  const chosen = (text: string): Json | undefined =>
    text === '' ? valueWhenEmpty : text === 'null' ? null : field.type === 'boolean' ? text === 'true' : text
  return (
    <select
      id={id}
      value={current}
      aria-invalid={isInvalid}
      aria-describedby={describedBy}
      onChange={(event) => onChange(chosen(event.currentTarget.value))}
    >
      <option value="">not set</option>
      {value === null && <option value="null">null</option>}
      {!isKnown && <option>{current}</option>}
      {options.map((each) => (
        <option key={each}>{each}</option>
      ))}
    </select>
  )
}

/** Any JSON value; the text may be invalid while it is typed, and the form cannot be sent then. */
function JsonControl(props: ControlProps): JSX.Element {
  const { id, value, isInvalid, describedBy, valueWhenEmpty, onChange } = props
  const [typed, setTyped] = useState<Typed>()
  const element = useRef<HTMLTextAreaElement>(null)
  // what was typed counts as long as the value is the one that it led to
  const current = typed && sameJson(typed.value, value) ? typed : undefined
  const text = current?.text ?? (value === undefined ? '' : printJson(value, 2))
  const problem = current?.isBroken === true ? 'This is not valid JSON yet.' : ''
  useEffect(() => element.current?.setCustomValidity(problem), [problem])
  return (
    <textarea
      ref={element}
      id={id}
      class="code"
      rows={Math.min(12, text.split('\n').length + 1)}
      placeholder="not set; any JSON value"
      spellcheck={false}
      aria-invalid={isInvalid || problem !== ''}
      aria-describedby={describedBy}
      value={text}
      onInput={(event) => {
        const next = event.currentTarget.value
        try {
          const parsed = next.trim() === '' ? valueWhenEmpty : parseJson(next)
          setTyped({ text: next, value: parsed, isBroken: false })
          onChange(parsed)
        } catch {
          setTyped({ text: next, value, isBroken: true })
        }
      }}
    />
  )
}

interface Typed {
  readonly text: string
  /** What the text led to: its own value, or the one before where it has none. */
  readonly value: Json | undefined
  readonly isBroken: boolean
}
