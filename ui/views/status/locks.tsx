/** Locks: acquire, count, ping and release one, to see who holds it. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { noteFailure } from '../../app/loading.ts'
import { client } from '../../app/session.ts'
import { printJson } from '../../client/json.ts'

const OPERATIONS = ['acquire', 'count', 'ping', 'release'] as const

export function Locks(): JSX.Element {
  const [domain, setDomain] = useState('')
  const [callerId, setCallerId] = useState('')
  const [resourceId, setResourceId] = useState('')
  const [answer, setAnswer] = useState('')
  const isComplete = domain !== '' && callerId !== '' && resourceId !== ''
  const run = async (operation: string): Promise<void> => {
    try {
      const result = await client.lock({ operation, domain, callerId, resourceId })
      setAnswer(`${operation}: ${printJson(result)}`)
    } catch (failure) {
      noteFailure(failure)
      setAnswer(`${operation}: ${(failure as Error).message}`)
    }
  }
  return (
    <section class="locks">
      <h2>Locks</h2>
      <div class="row">
        <label>
          Domain
          <input type="text" value={domain} onInput={(event) => setDomain(event.currentTarget.value)} />
        </label>
        <label>
          Caller
          <input type="text" value={callerId} onInput={(event) => setCallerId(event.currentTarget.value)} />
        </label>
        <label>
          Resource
          <input
            type="text"
            value={resourceId}
            onInput={(event) => setResourceId(event.currentTarget.value)}
          />
        </label>
        {OPERATIONS.map((operation) => (
          <button key={operation} type="button" disabled={!isComplete} onClick={() => void run(operation)}>
            {operation}
          </button>
        ))}
      </div>
      <p role="status">{answer}</p>
    </section>
  )
}
