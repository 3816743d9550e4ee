/** A button that opens something below it; Escape and a click elsewhere close it. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

interface MenuProps {
  readonly button: ComponentChildren
  readonly title: string
  readonly isChosen?: boolean
  readonly children: (close: () => void) => ComponentChildren
}

export function Menu({ button, title, isChosen = false, children }: MenuProps): JSX.Element {
  const element = useRef<HTMLDetailsElement>(null)
  const [isOpen, setIsOpen] = useState(false)
  const close = (): void => {
    if (element.current) element.current.open = false
  }
  useEffect(() => {
    if (!isOpen) return undefined
    const onPointer = (event: Event): void => {
      if (!element.current?.contains(event.target as Node)) close()
    }
    addEventListener('pointerdown', onPointer)
    return () => removeEventListener('pointerdown', onPointer)
  }, [isOpen])
  return (
    <details
      ref={element}
      class="menu"
      onToggle={(event) => setIsOpen(event.currentTarget.open)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return
        event.preventDefault()
        close()
        element.current?.querySelector('summary')?.focus()
      }}
    >
      <summary class={isChosen ? 'button chosen' : 'button'} title={title}>
        {button}
      </summary>
      {isOpen && children(close)}
    </details>
  )
}
