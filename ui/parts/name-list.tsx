/** The names of entities, with a search above them, and a fact beside each. */
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { href } from '../app/place.ts'

interface NameListProps {
  readonly names: readonly string[]
  readonly current: string | undefined
  readonly view: string
  readonly factOf?: (name: string) => string
  readonly children?: ComponentChildren
}

export function NameList({ names, current, view, factOf, children }: NameListProps): JSX.Element {
  const [search, setSearch] = useState('')
  const shown = names.filter((name) => name.toLowerCase().includes(search.toLowerCase()))
  return (
    <nav class="entities" aria-label="Entities">
      <input
        type="search"
        aria-label="Find an entity"
        placeholder="Find an entity"
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
      />
      {children}
      <ul>
        {shown.map((name) => (
          <li key={name}>
            <a href={href([view, name])} aria-current={name === current ? 'page' : undefined}>
              <span class="name">{name}</span>
              {factOf && <span class="count">{factOf(name)}</span>}
            </a>
          </li>
        ))}
      </ul>
      {shown.length === 0 && names.length > 0 && <p class="hint">No entity has this name.</p>}
    </nav>
  )
}
