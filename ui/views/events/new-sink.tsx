/** Creates a webhook. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { noteFailure } from '../../app/loading.ts'
import { client } from '../../app/session.ts'
import { Dialog } from '../../parts/dialog.tsx'

interface NewSinkProps {
  readonly onClose: () => void
  readonly onDone: () => void
}

export function NewSink({ onClose, onDone }: NewSinkProps): JSX.Element {
  const [name, setName] = useState('')
  const [url, setUrl] = useState('')
  const [roles, setRoles] = useState('')
  const [secret, setSecret] = useState(newSecret)
  const [problem, setProblem] = useState('')
  const create = async (): Promise<void> => {
    try {
      const list = roles.split(/[\s,]+/).filter((each) => each !== '')
      await client.createSink({ name, url, secret, roles: list })
      onDone()
      onClose()
    } catch (failure) {
      noteFailure(failure)
      setProblem((failure as Error).message)
    }
  }
  return (
    <Dialog title="New webhook" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <label>
          Name
          <input type="text" required value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <label>
          URL
          <input
            type="text"
            required
            placeholder="https://example.com/hook"
            value={url}
            onInput={(event) => setUrl(event.currentTarget.value)}
          />
        </label>
        <label>
          Roles, by comma: it sees what they may read
          <input
            type="text"
            required
            value={roles}
            onInput={(event) => setRoles(event.currentTarget.value)}
          />
        </label>
        <label>
          Signing secret; it cannot be read back
          <input
            type="text"
            class="code"
            value={secret}
            onInput={(event) => setSecret(event.currentTarget.value)}
          />
        </label>
        <p class="problem" role={problem === '' ? undefined : 'alert'}>
          {problem}
        </p>
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Create
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return `whsec_${btoa(String.fromCharCode(...bytes))}`
}
