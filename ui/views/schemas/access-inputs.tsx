/** Access lists in a form: for each operation the roles by comma, and the row rules. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { type Json, type JsonObject, isObject } from '../../client/json.ts'
import { rolesText, rowRules, withRoles, withRowRules } from '../../schema/metadata-draft.ts'
import { RowRules } from './row-rules.tsx'

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
        <div key={operation} class="access-list">
          <RolesInput
            operation={operation}
            list={lists[operation]}
            placeholder={placeholder}
            onChange={(text) => onChange(withRoles(access, operation, text))}
          />
          <RowRules
            operation={operation}
            rules={rowRules(lists[operation])}
            onChange={(rules) => onChange(withRowRules(access, operation, rules))}
          />
        </div>
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
    </label>
  )
}
