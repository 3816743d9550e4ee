/** A reference in a form: the other entity, and the fields that are equal. */
import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { useLoaded } from '../../app/loading.ts'
import { client } from '../../app/session.ts'
import { type JsonObject, textOf } from '../../client/json.ts'
import { Icon } from '../../parts/icons.tsx'
import { JsonInput } from '../../parts/json-input.tsx'
import { type Join, joinsIn, queryOf } from '../../schema/conditions.ts'

interface ReferenceInputsProps {
  readonly field: JsonObject
  readonly path: string
  readonly onChange: (field: JsonObject) => void
}

export function ReferenceInputs({ field, path, onChange }: ReferenceInputsProps): JSX.Element {
  const entities = useLoaded(() => client.entities(), [])
  const list = useId()
  const joins = joinsIn(field['query'])
  return (
    <div class="reference">
      <div class="row">
        <label>
          Entity
          <input
            type="text"
            list={list}
            value={textOf(field['entity'])}
            onInput={(event) => onChange({ ...field, entity: event.currentTarget.value })}
          />
          <datalist id={list}>
            {entities.value?.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </datalist>
        </label>
        <label>
          Version
          <input
            type="text"
            placeholder="the default version"
            value={textOf(field['versionValue'])}
            onInput={(event) => onChange(withVersion(field, event.currentTarget.value))}
          />
        </label>
      </div>
      {joins ? (
        <Joins joins={joins} path={path} onChange={(next) => onChange({ ...field, query: queryOf(next) })} />
      ) : (
        <JsonInput
          label="Query on the other entity"
          value={field['query'] ?? null}
          onChange={(query) => onChange({ ...field, query })}
        />
      )}
    </div>
  )
}

function withVersion(field: JsonObject, version: string): JsonObject {
  const { versionValue: _, ...rest } = field
  return version === '' ? rest : { ...rest, versionValue: version }
}

interface JoinsProps {
  readonly joins: readonly Join[]
  readonly path: string
  readonly onChange: (joins: readonly Join[]) => void
}

function Joins({ joins, path, onChange }: JoinsProps): JSX.Element {
  const change = (i: number, part: Partial<Join>): void => onChange(joins.with(i, { ...joins[i]!, ...part }))
  return (
    <>
      {joins.map(({ theirs, ours }, i) => (
        <div key={i} class="row">
          <label>
            Field of the other entity
            <input
              type="text"
              value={theirs}
              onInput={(event) => change(i, { theirs: event.currentTarget.value })}
            />
          </label>
          <label>
            equals the field beside {path}
            <input
              type="text"
              value={ours}
              onInput={(event) => change(i, { ours: event.currentTarget.value })}
            />
          </label>
          {joins.length > 1 && (
            <button
              type="button"
              class="quiet icon-only"
              aria-label={`Remove the condition on ${theirs}`}
              onClick={() => onChange(joins.toSpliced(i, 1))}
            >
              <Icon name="trash" />
            </button>
          )}
        </div>
      ))}
      <button type="button" onClick={() => onChange([...joins, { theirs: '', ours: '' }])}>
        <Icon name="plus" />
        Add a condition
      </button>
    </>
  )
}
