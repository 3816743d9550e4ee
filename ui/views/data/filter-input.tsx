/** The text field of the filter, with what can follow in a list below it. */
import type { JSX, RefObject } from 'preact'
import { useState } from 'preact/hooks'
import type { EntityInfo } from '../../client/types.ts'
import type { Column } from '../../schema/columns.ts'
import { filterPath, suggestionsFor } from './filter-suggestions.ts'

interface FilterInputProps {
  readonly inputRef: RefObject<HTMLInputElement | null>
  readonly text: string
  readonly columns: readonly Column[]
  readonly info: EntityInfo
  readonly isWrong: boolean
  readonly onInput: (text: string) => void
}

export function FilterInput({
  inputRef,
  text,
  columns,
  info,
  isWrong,
  onInput,
}: FilterInputProps): JSX.Element {
  const [isOpen, setIsOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const { from, items } = text.startsWith('{') ? NONE : suggestionsFor(text, { columns, info })
  const isShown = isOpen && items.length > 0
  const accept = (index: number): void => {
    const item = items[index]
    if (!item) return
    onInput(`${text.slice(0, from)}${item.text}${/[(/]$/.test(item.text) ? '' : ' '}`)
    setActive(-1)
    inputRef.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setIsOpen(true)
      setActive((active + step + items.length + 1) % (items.length + 1 || 1))
    } else if (isShown && event.key === 'Enter' && active >= 0) {
      event.preventDefault()
      accept(active)
    } else if (isShown && event.key === 'Escape') {
      event.preventDefault()
      setIsOpen(false)
    }
  }
  return (
    <span class="filter-input">
      <input
        ref={inputRef}
        type="text"
        role="combobox"
        aria-label="Filter"
        aria-expanded={isShown}
        aria-controls="filter-suggestions"
        aria-autocomplete="list"
        aria-activedescendant={isShown && active >= 0 ? `filter-suggestion-${active}` : undefined}
        aria-invalid={isWrong}
        aria-describedby="filter-problem"
        placeholder={placeholderFor(columns)}
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={(event) => {
          setIsOpen(true)
          setActive(-1)
          onInput(event.currentTarget.value)
        }}
        onFocus={() => setIsOpen(true)}
        onBlur={() => setIsOpen(false)}
        onKeyDown={onKeyDown}
      />
      <ul
        id="filter-suggestions"
        role="listbox"
        aria-label="What can follow"
        class="suggestions"
        hidden={!isShown}
      >
        {items.map((item, i) => (
          <li
            key={item.text}
            id={`filter-suggestion-${i}`}
            role="option"
            aria-selected={i === active}
            // before the field loses the focus
            onMouseDown={(event) => {
              event.preventDefault()
              accept(i)
            }}
          >
            <code>{item.text}</code>
            <small>{item.kind}</small>
          </li>
        ))}
      </ul>
    </span>
  )
}

const NONE = { from: 0, items: [] }

function placeholderFor(columns: readonly Column[]): string {
  const column = columns.find((each) => each.field.type === 'string' && each.path !== '_id')
  const path = column ? filterPath(column) : '_id'
  return `Filter, such as ${path} = "…"`
}
