/**
 * Metadata in a form: names, version, access of the entity, its fields, indexes and hooks. Everything else is kept, and
 * changed as JSON.
 */
import type { JSX } from 'preact'
import { asList, asObject } from '../../client/data-client.ts'
import { type JsonObject, textOf } from '../../client/json.ts'
import { schemaPaths } from '../../schema/field-paths.ts'
import type { MetadataProblem } from '../../schema/metadata-problem.ts'
import { AccessInputs } from './access-inputs.tsx'
import { FieldsForm } from './field-form.tsx'
import { HookInputs } from './hook-inputs.tsx'
import { IndexInputs } from './index-inputs.tsx'

interface SchemaFormProps {
  readonly metadata: JsonObject
  readonly problem: MetadataProblem | undefined
  /** Whether the entity does not exist yet, so that it can be named. */
  readonly isNew: boolean
  readonly onChange: (metadata: JsonObject) => void
}

const ENTITY_OPERATIONS = ['find', 'insert', 'update', 'delete'] as const

export function SchemaForm({ metadata, problem, isNew, onChange }: SchemaFormProps): JSX.Element {
  const info = asObject(metadata['entityInfo'])
  const schema = asObject(metadata['schema'])
  const version = asObject(schema['version'])
  const enums = asList(info['enums']).map((each) => textOf(asObject(each)['name']))
  const fields = asObject(schema['fields'])
  const paths = schemaPaths(fields)
  const changeInfo = (part: JsonObject): void => onChange({ ...metadata, entityInfo: { ...info, ...part } })
  const changeSchema = (part: JsonObject): void => onChange({ ...metadata, schema: { ...schema, ...part } })
  return (
    <div class="schema-form">
      <div class="row">
        <TextInput
          label="Entity"
          value={textOf(info['name'])}
          isDisabled={!isNew}
          onChange={(name) =>
            onChange({ ...metadata, entityInfo: { ...info, name }, schema: { ...schema, name } })
          }
        />
        <TextInput
          label="Version"
          value={textOf(version['value'])}
          onChange={(value) => {
            const isDefault = isNew && info['defaultVersion'] === version['value']
            onChange({
              ...metadata,
              entityInfo: isDefault ? { ...info, defaultVersion: value } : info,
              schema: { ...schema, version: { ...version, value } },
            })
          }}
        />
        <TextInput
          label="What changes"
          value={textOf(version['changelog'])}
          onChange={(changelog) => changeSchema({ version: { ...version, changelog } })}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={info['history'] === true}
            onChange={(event) => changeInfo({ history: event.currentTarget.checked })}
          />
          keep the history of documents
        </label>
      </div>
      <fieldset>
        <legend>Access to the entity</legend>
        <AccessInputs
          operations={ENTITY_OPERATIONS}
          access={schema['access']}
          placeholder="nobody"
          onChange={(access) => changeSchema({ access: access ?? {} })}
        />
      </fieldset>
      <fieldset>
        <legend>Fields</legend>
        <FieldsForm
          enums={enums}
          problem={problem}
          fields={fields}
          onChange={(next) => changeSchema({ fields: next })}
        />
      </fieldset>
      <fieldset>
        <legend>Indexes</legend>
        <IndexInputs
          indexes={info['indexes']}
          paths={paths}
          problem={problem}
          onChange={(indexes) => changeInfo({ indexes })}
        />
      </fieldset>
      <fieldset>
        <legend>Hooks</legend>
        <HookInputs
          hooks={info['hooks']}
          paths={paths}
          problem={problem}
          onChange={(hooks) => changeInfo({ hooks })}
        />
      </fieldset>
    </div>
  )
}

interface TextInputProps {
  readonly label: string
  readonly value: string
  readonly isDisabled?: boolean
  readonly onChange: (text: string) => void
}

function TextInput({ label, value, isDisabled = false, onChange }: TextInputProps): JSX.Element {
  return (
    <label>
      {label}
      <input
        type="text"
        value={value}
        disabled={isDisabled}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  )
}
