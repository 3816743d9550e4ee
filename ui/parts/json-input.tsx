/** A small part of a document as JSON. Text that is no JSON is marked, and the form around it cannot be sent. */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Json, parseJson, printJson } from '../client/json.ts'

interface JsonInputProps {
  readonly label: string
  readonly value: Json
  readonly onChange: (value: Json) => void
}

export function JsonInput({ label, value, onChange }: JsonInputProps): JSX.Element {
  const [draft, setDraft] = useState<string>()
  const element = useRef<HTMLTextAreaElement>(null)
  const isWrong = draft !== undefined && parsed(draft) === undefined
  const problem = isWrong ? 'This is not valid JSON yet.' : ''
  useEffect(() => element.current?.setCustomValidity(problem), [problem])
  return (
    <label class="wide">
      {label}
      <textarea
        ref={element}
        rows={2}
        spellcheck={false}
        value={draft ?? printJson(value)}
        aria-invalid={isWrong}
        title={problem || undefined}
        onInput={(event) => {
          const text = event.currentTarget.value
          setDraft(text)
          const next = parsed(text)
          if (next !== undefined) onChange(next)
        }}
        onBlur={() => {
          if (!isWrong) setDraft(undefined)
        }}
      />
    </label>
  )
}

function parsed(text: string): Json | undefined {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
