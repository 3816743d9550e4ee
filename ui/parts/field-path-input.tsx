/** The path of a field, with completion by the fields of the schema. */
import type { JSX } from 'preact'

interface FieldPathInputProps {
  readonly label: string
  readonly value: string
  /** The id of the list of paths. */
  readonly list: string
  readonly onChange: (path: string) => void
}

export function FieldPathInput({ label, value, list, onChange }: FieldPathInputProps): JSX.Element {
  return (
    <label>
      {label}
      <input
        type="text"
        list={list}
        value={value}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  )
}

/** One list for all inputs of a form: a schema may have thousands of fields. */
export function PathList({
  id,
  paths,
}: {
  readonly id: string
  readonly paths: readonly string[]
}): JSX.Element {
  return (
    <datalist id={id}>
      {paths.map((path) => (
        <option key={path}>{path}</option>
      ))}
    </datalist>
  )
}
