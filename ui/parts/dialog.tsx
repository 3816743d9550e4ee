/** A modal dialog: the browser keeps the focus inside, closes it on Escape, and gives the focus back. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Icon } from './icons.tsx'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly isWide?: boolean
  readonly children: ComponentChildren
}

export function Dialog({ title, onClose, isWide = false, children }: DialogProps): JSX.Element {
  const element = useRef<HTMLDialogElement>(null)
  /** The browser reports the end of a removed dialog later, when the next one may be open already. */
  const isRemoved = useRef(false)
  /** Where a click began: one that only ends beside the dialog has selected text. */
  const pressed = useRef<EventTarget | null>(null)
  const id = useId()
  useEffect(() => {
    const dialog = element.current
    if (dialog && !dialog.open) dialog.showModal()
    return () => {
      isRemoved.current = true
      dialog?.close()
    }
  }, [])
  return (
    <dialog
      ref={element}
      class={isWide ? 'wide' : ''}
      aria-labelledby={id}
      onClose={() => {
        if (!isRemoved.current) onClose()
      }}
      onCancel={onClose}
      onPointerDown={(event) => {
        pressed.current = event.target
      }}
      onClick={({ target }) => {
        if (target === element.current && pressed.current === target) onClose()
      }}
    >
      <div class="dialog-body">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" class="quiet icon-only" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}
