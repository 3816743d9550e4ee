/** Keyboard shortcuts: single keys, and `g` followed by the letter of a view. They rest while the user types. */
import { useEffect } from 'preact/hooks'

export interface Shortcut {
  /** As shown: `/`, `?`, `g d`, `mod+k`. */
  readonly keys: string
  readonly label: string
  readonly run: () => void
}

const registered = new Set<readonly Shortcut[]>()
let isAfterG = false

export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  useEffect(() => {
    registered.add(shortcuts)
    return () => void registered.delete(shortcuts)
  })
}

export function allShortcuts(): readonly Shortcut[] {
  return [...registered].flat()
}

addEventListener('keydown', (event) => {
  const pressed = pressedKeys(event)
  if (pressed === undefined) return
  const found = allShortcuts().find(({ keys }) => keys === pressed)
  if (!found) return
  event.preventDefault()
  found.run()
})

function pressedKeys(event: KeyboardEvent): string | undefined {
  if (event.altKey || event.isComposing) return undefined
  if (event.ctrlKey || event.metaKey) return `mod+${event.key.toLowerCase()}`
  if (isTyping(event)) return undefined
  const wasAfterG = isAfterG
  isAfterG = event.key === 'g' && !wasAfterG
  return wasAfterG ? `g ${event.key}` : event.key
}

function isTyping(event: KeyboardEvent): boolean {
  if (document.querySelector('dialog[open]')) return true
  return event.composedPath().some((each) => each instanceof HTMLElement && isEditable(each))
}

function isEditable(element: HTMLElement): boolean {
  return element.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(element.tagName)
}
