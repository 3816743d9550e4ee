/** Copies a text to the clipboard. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from './icons.tsx'

export function CopyButton({ text }: { readonly text: string }): JSX.Element {
  const [isCopied, setIsCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text)
    setIsCopied(true)
    setTimeout(() => setIsCopied(false), 2_000)
  }
  return (
    <button type="button" class="quiet copy" onClick={() => void copy()}>
      <Icon name="copy" />
      {isCopied ? 'Copied' : 'Copy'}
    </button>
  )
}
