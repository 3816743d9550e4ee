/** The row rules of an access list: a role, and the documents that it is admitted to. */
import type { JSX } from 'preact'
import { type Json, type JsonObject, isObject, textOf } from '../../client/json.ts'
import { Icon } from '../../parts/icons.tsx'
import { JsonInput } from '../../parts/json-input.tsx'
import { type Compared, NEW_RULE, type RowCondition, conditionIn, whereOf } from '../../schema/conditions.ts'

interface RowRulesProps {
  readonly operation: string
  readonly rules: readonly Json[]
  readonly onChange: (rules: readonly Json[]) => void
}

export function RowRules({ operation, rules, onChange }: RowRulesProps): JSX.Element {
  return (
    <div class="row-rules">
      {rules.map((rule, i) => (
        <Rule
          key={i}
          operation={operation}
          rule={isObject(rule) ? rule : {}}
          onChange={(next) => onChange(rules.with(i, next))}
          onRemove={() => onChange(rules.toSpliced(i, 1))}
        />
      ))}
      <button type="button" class="quiet" onClick={() => onChange([...rules, NEW_RULE])}>
        <Icon name="plus" />
        Role that may {operation} some documents
      </button>
    </div>
  )
}

interface RuleProps {
  readonly operation: string
  readonly rule: JsonObject
  readonly onChange: (rule: JsonObject) => void
  readonly onRemove: () => void
}

function Rule({ operation, rule, onChange, onRemove }: RuleProps): JSX.Element {
  const role = textOf(rule['role'])
  const condition = conditionIn(rule['where'])
  return (
    <div class="row" role="group" aria-label={`Rule of ${role === '' ? 'a role' : role} for ${operation}`}>
      <label>
        Role
        <input
          type="text"
          value={role}
          onInput={(event) => onChange({ ...rule, role: event.currentTarget.value })}
        />
      </label>
      {condition ? (
        <Condition condition={condition} onChange={(next) => onChange({ ...rule, where: whereOf(next) })} />
      ) : (
        <JsonInput
          label="where documents match"
          value={rule['where'] ?? null}
          onChange={(where) => onChange({ ...rule, where })}
        />
      )}
      <button
        type="button"
        class="quiet icon-only"
        aria-label={`Remove the rule of ${role} for ${operation}`}
        onClick={onRemove}
      >
        <Icon name="trash" />
      </button>
    </div>
  )
}

const COMPARED: readonly (readonly [Compared, string])[] = [
  ['caller', 'the name of the caller'],
  ['claim', 'a claim of the caller'],
  ['value', 'a value'],
]

interface ConditionProps {
  readonly condition: RowCondition
  readonly onChange: (condition: RowCondition) => void
}

function Condition({ condition, onChange }: ConditionProps): JSX.Element {
  const { field, compared, text } = condition
  return (
    <>
      <label>
        where the field
        <input
          type="text"
          value={field}
          onInput={(event) => onChange({ ...condition, field: event.currentTarget.value })}
        />
      </label>
      <label>
        equals
        <select
          value={compared}
          onChange={(event) => onChange({ ...condition, compared: event.currentTarget.value as Compared })}
        >
          {COMPARED.map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {compared !== 'caller' && (
        <label>
          {compared === 'claim' ? 'Claim' : 'Value'}
          <input
            type="text"
            value={text}
            onInput={(event) => onChange({ ...condition, text: event.currentTarget.value })}
          />
        </label>
      )}
    </>
  )
}
