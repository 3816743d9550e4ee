/** The command palette: go to any entity or view, or run a command, by typing a part of its name. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { useLoaded } from './loading.ts'
import { go } from './place.ts'
import { client } from './session.ts'
import type { Shortcut } from './shortcuts.ts'

interface Command {
  readonly label: string
  readonly kind: string
  readonly run: () => void
}

const MAX_SHOWN = 12

interface PaletteProps {
  readonly commands: readonly Shortcut[]
  readonly onClose: () => void
}

export function Palette({ commands, onClose }: PaletteProps): JSX.Element {
  const entities = useLoaded(() => client.entities(), [])
  const [text, setText] = useState('')
  const [active, setActive] = useState(0)
  const all: readonly Command[] = [
    ...(entities.value ?? []).flatMap((name) => [
      { label: name, kind: 'data', run: () => go(['data', name]) },
      { label: `${name} schema`, kind: 'schema', run: () => go(['schemas', name]) },
    ]),
    ...commands.map(({ label, keys, run }) => ({ label, kind: keys, run })),
  ]
  const words = text.toLowerCase().split(/\s+/)
  const found = all
    .filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
    .slice(0, MAX_SHOWN)
  const choose = (command: Command | undefined): void => {
    if (!command) return
    onClose()
    command.run()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setActive((active + step + found.length) % Math.max(1, found.length))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      choose(found[active])
    }
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <div class="palette">
        <input
          type="text"
          // so that it can be typed into at once; the dialog would focus its first button
          autofocus
          role="combobox"
          aria-label="Entity, view or command"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={found[active] ? `palette-${active}` : undefined}
          placeholder="Entity, view or command"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setActive(0)
          }}
          onKeyDown={onKeyDown}
        />
        <ul id="palette-list" role="listbox" aria-label="Matches">
          {found.map((command, i) => (
            <li
              key={command.kind + command.label}
              id={`palette-${i}`}
              role="option"
              aria-selected={i === active}
              onClick={() => choose(command)}
            >
              <span>{command.label}</span>
              <kbd>{command.kind}</kbd>
            </li>
          ))}
        </ul>
        {found.length === 0 && <p class="hint">Nothing is called that.</p>}
      </div>
    </Dialog>
  )
}
