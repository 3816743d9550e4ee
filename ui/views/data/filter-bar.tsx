/** The filter box, with a builder beside it for those who do not type. */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useShortcuts } from '../../app/shortcuts.ts'
import type { EntityInfo } from '../../client/types.ts'
import { Icon } from '../../parts/icons.tsx'
import type { Column } from '../../schema/columns.ts'
import { type Condition, type Operator, OPERATORS, filterProblem, withCondition } from './filter.ts'
import { FilterInput } from './filter-input.tsx'

interface FilterBarProps {
  readonly text: string
  readonly columns: readonly Column[]
  readonly info: EntityInfo
  /** What the service says about the filter. */
  readonly problem: string | undefined
  readonly onChange: (text: string) => void
}

export function FilterBar({ text, columns, info, problem, onChange }: FilterBarProps): JSX.Element {
  const [draft, setDraft] = useState(text)
  const [isBuilding, setIsBuilding] = useState(false)
  const box = useRef<HTMLInputElement>(null)
  useEffect(() => setDraft(text), [text])
  useShortcuts([{ keys: '/', label: 'Filter', run: () => box.current?.focus() }])
  const shown = filterProblem(draft) ?? (draft === text ? problem : undefined)
  const apply = (next: string): void => {
    setDraft(next)
    if (filterProblem(next) === undefined) onChange(next)
  }
  return (
    <div class="filter">
      <form
        class={shown === undefined ? 'filter-box' : 'filter-box wrong'}
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          apply(draft)
        }}
      >
        <Icon name="filter" />
        <FilterInput
          inputRef={box}
          text={draft}
          columns={columns}
          info={info}
          isWrong={shown !== undefined}
          onInput={setDraft}
        />
        {draft !== '' && (
          <button
            type="button"
            class="quiet icon-only"
            aria-label="Clear the filter"
            onClick={() => apply('')}
          >
            <Icon name="close" />
          </button>
        )}
        <button type="button" aria-expanded={isBuilding} onClick={() => setIsBuilding(!isBuilding)}>
          <Icon name="plus" />
          Condition
        </button>
      </form>
      <p id="filter-problem" class="problem" role={shown === undefined ? undefined : 'alert'}>
        {shown}
      </p>
      {isBuilding && (
        <Builder
          columns={columns}
          info={info}
          onAdd={(condition) => {
            // what is wrong with it is said above
            if (filterProblem(draft) !== undefined) return
            setIsBuilding(false)
            apply(withCondition(draft, condition))
          }}
        />
      )}
    </div>
  )
}

interface BuilderProps {
  readonly columns: readonly Column[]
  readonly info: EntityInfo
  readonly onAdd: (condition: Condition) => void
}

function Builder({ columns, info, onAdd }: BuilderProps): JSX.Element {
  const usable = columns.filter(({ field }) => !['reference', 'any', 'binary'].includes(field.type))
  const [path, setPath] = useState(usable[0]?.path ?? '_id')
  const [operator, setOperator] = useState<Operator>('=')
  const [value, setValue] = useState('')
  const column = usable.find((each) => each.path === path)
  const named = column?.field.constraints?.['enum']
  const values =
    column?.field.type === 'boolean'
      ? ['true', 'false']
      : info.enums?.find(({ name }) => name === named)?.values
  return (
    <form
      class="builder"
      aria-label="Add a condition"
      onSubmit={(event) => {
        event.preventDefault()
        if (column) onAdd({ column, operator, value })
      }}
    >
      <label>
        Field
        <select
          value={path}
          onChange={(event) => {
            setPath(event.currentTarget.value)
            // that of another field may not be one of this
            setValue('')
          }}
        >
          {usable.map((each) => (
            <option key={each.path}>{each.path}</option>
          ))}
        </select>
      </label>
      <label>
        Operator
        <select value={operator} onChange={(event) => setOperator(event.currentTarget.value as Operator)}>
          {OPERATORS.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <label>
        Value
        {values ? (
          <select value={value} onChange={(event) => setValue(event.currentTarget.value)}>
            <option value="">null</option>
            {values.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        ) : (
          <input
            type="text"
            value={value}
            placeholder={column?.field.type === 'date' ? '2026-01-31T00:00:00Z' : 'empty for null'}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
        )}
      </label>
      <button type="submit" class="primary">
        Add
      </button>
    </form>
  )
}
