/** What surrounds every view: navigation, who the user is, shortcuts, and messages. */
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { Icon, type IconName } from '../parts/icons.tsx'
import { Palette } from './palette.tsx'
import { go, href, usePlace } from './place.ts'
import { type Shortcut, allShortcuts, useShortcuts } from './shortcuts.ts'
import { useStore } from './store.ts'
import { nextTheme, themeStore } from './theme.ts'
import { Toasts } from './toast.tsx'
import { ViewAs, ViewAsDialog } from './view-as.tsx'

export interface View {
  readonly name: string
  readonly label: string
  readonly icon: IconName
  readonly key: string
}

interface ShellProps {
  readonly views: readonly View[]
  readonly children: ComponentChildren
}

type Open = 'palette' | 'shortcuts' | 'viewAs' | undefined

export function Shell({ views, children }: ShellProps): JSX.Element {
  const { path } = usePlace()
  const [open, setOpen] = useState<Open>()
  const theme = useStore(themeStore)
  const current = path[0] ?? 'data'
  const shortcuts: readonly Shortcut[] = [
    ...views.map(({ name, label, key }) => ({
      keys: `g ${key}`,
      label: `Go to ${label}`,
      run: () => go([name]),
    })),
    { keys: 'mod+k', label: 'Go to…', run: () => setOpen('palette') },
    { keys: 'a', label: 'View as', run: () => setOpen('viewAs') },
    { keys: 't', label: 'Light or dark', run: nextTheme },
    { keys: '?', label: 'Shortcuts', run: () => setOpen('shortcuts') },
  ]
  useShortcuts(shortcuts)
  const close = (): void => setOpen(undefined)
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={(event) => skip(event)}>
        Skip to the content
      </a>
      <nav class="views" aria-label="Views">
        <a class="brand" href={href(['data'])}>
          <span class="mark" aria-hidden="true" />
          <span class="label">Smalt</span>
        </a>
        {views.map(({ name, label, icon, key }) => (
          <a
            key={name}
            href={href([name])}
            title={`${label} (g ${key})`}
            aria-current={name === current ? 'page' : undefined}
          >
            <Icon name={icon} />
            <span class="label">{label}</span>
          </a>
        ))}
      </nav>
      <div class="content">
        <header class="top">
          <button type="button" class="search" onClick={() => setOpen('palette')}>
            <Icon name="search" />
            <span class="label">Go to…</span>
            <kbd>Ctrl K</kbd>
          </button>
          <span class="spacer" />
          <ViewAs onOpen={() => setOpen('viewAs')} />
          <button
            type="button"
            class="icon-only quiet"
            title={`Theme: ${theme} (t)`}
            aria-label={`Theme: ${theme}`}
            onClick={nextTheme}
          >
            <Icon name="theme" />
          </button>
          <button
            type="button"
            class="icon-only quiet keys"
            title="Shortcuts (?)"
            aria-label="Shortcuts"
            onClick={() => setOpen('shortcuts')}
          >
            <Icon name="keyboard" />
          </button>
        </header>
        <main id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
      <Toasts />
      {open === 'palette' && <Palette commands={allShortcuts()} onClose={close} />}
      {open === 'viewAs' && <ViewAsDialog onClose={close} />}
      {open === 'shortcuts' && <ShortcutsDialog onClose={close} />}
    </div>
  )
}

function skip(event: Event): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

function ShortcutsDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  return (
    <Dialog title="Shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        {allShortcuts().map(({ keys, label }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys.replace('mod+', 'Ctrl ')}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>↑ ↓</kbd>
          </dt>
          <dd>Move in the table; Enter opens a document, Space selects it, Escape closes it</dd>
        </div>
      </dl>
    </Dialog>
  )
}
