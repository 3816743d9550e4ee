/** Events that a sink could not deliver: to look at, to try again, or to discard. */
import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { noteFailure, useLoaded } from '../../app/loading.ts'
import { useText } from '../../app/place.ts'
import { client } from '../../app/session.ts'
import { showToast } from '../../app/toast.tsx'
import { asObject } from '../../client/data-client.ts'
import { DEAD_LETTERS_READ } from '../../client/event-client.ts'
import { type JsonObject, printJson, textOf } from '../../client/json.ts'
import { Failure, Progress } from '../../parts/notices.tsx'

interface DeadLettersProps {
  readonly sink: string
  readonly onDone: () => void
}

export function DeadLetters({ sink, onDone }: DeadLettersProps): JSX.Element {
  const letters = useLoaded(() => client.deadLetters(sink), [sink])
  if (letters.failure !== undefined) return <Failure failure={letters.failure} onRetry={letters.reload} />
  if (!letters.value) return <Progress label="Loading dead letters" />
  const done = (): void => {
    letters.reload()
    onDone()
  }
  return (
    <section>
      <h2>Dead letters of {sink}</h2>
      {letters.value.length === 0 && (
        <p class="hint">None: every event was delivered, or is still being tried.</p>
      )}
      {letters.value.length > 0 && (
        <button type="button" onClick={() => void run(client.redrive(sink), 'All are tried again.', done)}>
          Try all again
        </button>
      )}
      {letters.value.length >= DEAD_LETTERS_READ && (
        <p class="hint">
          These are the oldest {DEAD_LETTERS_READ}; there may be more. Trying all again includes the others.
        </p>
      )}
      <ul class="findings">
        {letters.value.map((letter) => (
          <DeadLetter key={textOf(letter['id'])} sink={sink} letter={letter} onDone={done} />
        ))}
      </ul>
    </section>
  )
}

interface DeadLetterProps extends DeadLettersProps {
  readonly letter: JsonObject
}

function DeadLetter({ sink, letter, onDone }: DeadLetterProps): JSX.Element {
  const [shown, setShown] = useText('letter')
  const content = useId()
  const id = textOf(letter['id'])
  const isOpen = shown === id
  return (
    <li>
      <code>{id}</code>{' '}
      <small>
        {textOf(letter['operation'])}, {textOf(letter['attempts'])} attempts
      </small>
      <p>{textOf(letter['error'])}</p>
      <div class="row">
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={content}
          onClick={() => setShown(isOpen ? '' : id)}
        >
          Show
        </button>
        <button
          type="button"
          onClick={() => void run(client.redrive(sink, id), 'It is tried again.', onDone)}
        >
          Try again
        </button>
        <button
          type="button"
          class="danger"
          onClick={() => void run(client.discard(sink, id), 'Discarded.', onDone)}
        >
          Discard
        </button>
      </div>
      <div id={content}>{isOpen && <Content sink={sink} id={id} />}</div>
    </li>
  )
}

function Content({ sink, id }: { readonly sink: string; readonly id: string }): JSX.Element {
  const letter = useLoaded(() => client.deadLetter(sink, id), [sink, id])
  if (letter.failure !== undefined) return <Failure failure={letter.failure} onRetry={letter.reload} />
  if (letter.value === undefined) return <Progress label="Loading the event" />
  return (
    <div class="code-block">
      <pre tabIndex={0} role="region" aria-label={`Event ${id}`}>
        {printJson(asObject(letter.value)['event'] ?? letter.value, 2)}
      </pre>
    </div>
  )
}

/** Says what became of it. */
export async function run(work: Promise<unknown>, text: string, onDone: () => void): Promise<void> {
  try {
    await work
    showToast({ kind: 'done', text })
  } catch (failure) {
    noteFailure(failure)
    showToast({ kind: 'failed', text: (failure as Error).message })
  }
  onDone()
}
