/** Access lists as text: one input for each operation, with the roles by comma. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { type Json, type JsonObject, isObject, printJson } from '../../client/json.ts'
import { rolesText, rowRules, withRoles } from '../../schema/metadata-draft.ts'

interface AccessInputsProps {
  readonly operations: readonly string[]
  readonly access: Json | undefined
  readonly placeholder: string
  readonly onChange: (access: JsonObject | undefined) => void
}

export function AccessInputs({ operations, access, placeholder, onChange }: AccessInputsProps): JSX.Element {
  const lists = isObject(access) ? access : {}
  return (
    <div class="row">
      {operations.map((operation) => (
        <RolesInput
          key={operation}
          operation={operation}
          list={lists[operation]}
          placeholder={placeholder}
          onChange={(text) => onChange(withRoles(access, operation, text))}
        />
      ))}
    </div>
  )
}

interface RolesInputProps {
  readonly operation: string
  readonly list: Json | undefined
  readonly placeholder: string
  readonly onChange: (text: string) => void
}

/** The text stays as it is typed until the input is left: a comma at its end is no role yet. */
function RolesInput({ operation, list, placeholder, onChange }: RolesInputProps): JSX.Element {
  const [draft, setDraft] = useState<string>()
  const rules = rowRules(list)
  return (
    <label>
      Roles that may {operation}
      <input
        type="text"
        value={draft ?? rolesText(list)}
        placeholder={placeholder}
        onInput={(event) => {
          setDraft(event.currentTarget.value)
          onChange(event.currentTarget.value)
        }}
        onBlur={() => setDraft(undefined)}
      />
      {rules.map((rule) => (
        <small key={printJson(rule)}>
          <code>{printJson(rule)}</code>
        </small>
      ))}
    </label>
  )
}
