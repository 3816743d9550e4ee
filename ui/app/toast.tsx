/** Short messages about what was done, with an undo where there is one. */
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { createStore, useStore } from './store.ts'

export interface Toast {
  readonly text: string
  readonly kind: 'done' | 'failed'
  readonly action?: { readonly label: string; readonly run: () => void }
}

const toastStore = createStore<Toast | undefined>(undefined)
const SHOWN_MS = 8_000

export function showToast(toast: Toast): void {
  toastStore.set(toast)
}

export function Toasts(): JSX.Element {
  const toast = useStore(toastStore)
  useEffect(() => {
    if (!toast) return undefined
    const timer = setTimeout(() => toastStore.set(undefined), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [toast])
  return (
    <div class="toasts" role="status">
      {toast && (
        <div class={`toast ${toast.kind}`}>
          <span>{toast.text}</span>
          {toast.action && (
            <button
              type="button"
              class="quiet"
              onClick={() => {
                toastStore.set(undefined)
                toast.action?.run()
              }}
            >
              {toast.action.label}
            </button>
          )}
          <button
            type="button"
            class="quiet icon"
            aria-label="Dismiss"
            onClick={() => toastStore.set(undefined)}
          >
            ×
          </button>
        </div>
      )}
    </div>
  )
}
