/** Tabs: one is chosen; arrow keys move between them. */
import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'

interface TabsProps<T extends string> {
  readonly label: string
  readonly tabs: readonly { readonly name: T; readonly label: string }[]
  readonly current: T
  readonly onChoose: (name: T) => void
  readonly children: ComponentChildren
}

export function Tabs<T extends string>({
  label,
  tabs,
  current,
  onChoose,
  children,
}: TabsProps<T>): JSX.Element {
  const id = useId()
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    const at = tabs.findIndex(({ name }) => name === current)
    const next = tabs[(at + step + tabs.length) % tabs.length]!
    onChoose(next.name)
    document.getElementById(`${id}-${next.name}`)?.focus()
  }
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map(({ name, label }) => (
          <button
            key={name}
            id={`${id}-${name}`}
            type="button"
            role="tab"
            aria-selected={name === current}
            aria-controls={`${id}-panel`}
            tabIndex={name === current ? 0 : -1}
            onClick={() => onChoose(name)}
          >
            {label}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} class="tab-panel" role="tabpanel" aria-labelledby={`${id}-${current}`}>
        {children}
      </div>
    </>
  )
}
