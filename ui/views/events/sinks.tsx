/** Sinks: their state, what failed, and what to do with it. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useLoaded } from '../../app/loading.ts'
import { useText } from '../../app/place.ts'
import { client } from '../../app/session.ts'
import type { Sink } from '../../client/types.ts'
import { Icon } from '../../parts/icons.tsx'
import { Empty, Failure, Progress } from '../../parts/notices.tsx'
import { DeadLetters, run } from './dead-letters.tsx'
import { NewSink } from './new-sink.tsx'

export function Sinks(): JSX.Element {
  const sinks = useLoaded(() => client.sinks(), [])
  const [open, setOpen] = useText('sink')
  const [isCreating, setIsCreating] = useState(false)
  if (sinks.failure !== undefined) return <Failure failure={sinks.failure} onRetry={sinks.reload} />
  if (!sinks.value) return <Progress label="Loading sinks" />
  return (
    <>
      <div class="row">
        <button type="button" class="primary" onClick={() => setIsCreating(true)}>
          <Icon name="plus" />
          New sink
        </button>
        <button type="button" onClick={sinks.reload}>
          <Icon name="refresh" />
          Read again
        </button>
      </div>
      {sinks.value.length === 0 ? (
        <Empty title="No sinks">
          <p>A sink is a receiver to which events are pushed: a webhook or a NATS stream.</p>
        </Empty>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Sinks">
          <table>
            <thead>
              <tr>
                <th scope="col">Sink</th>
                <th scope="col">State</th>
                <th scope="col">Failures</th>
                <th scope="col">Position</th>
                <th scope="col">Actions</th>
              </tr>
            </thead>
            <tbody>
              {sinks.value.map((sink) => (
                <SinkRow
                  key={sink.name}
                  sink={sink}
                  isOpen={open === sink.name}
                  onOpen={() => setOpen(open === sink.name ? '' : sink.name)}
                  onDone={sinks.reload}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {sinks.value.some(({ name }) => name === open) && (
        <DeadLetters key={open} sink={open} onDone={sinks.reload} />
      )}
      {isCreating && <NewSink onClose={() => setIsCreating(false)} onDone={sinks.reload} />}
    </>
  )
}

interface SinkRowProps {
  readonly sink: Sink
  readonly isOpen: boolean
  readonly onOpen: () => void
  readonly onDone: () => void
}

function SinkRow({ sink, isOpen, onOpen, onDone }: SinkRowProps): JSX.Element {
  const { name, kind = 'webhook', url, status, failures, position, configured, retryAt } = sink
  return (
    <tr>
      <th scope="row">
        {name} <small>{kind}</small>
        <br />
        <small>{url}</small>
      </th>
      <td>
        <span class={`badge ${status}`}>{status}</span>{' '}
        {retryAt !== undefined && <small>again at {retryAt}</small>}
      </td>
      <td>{failures}</td>
      <td>{position}</td>
      <td>
        <div class="row">
          <button type="button" aria-expanded={isOpen} onClick={onOpen}>
            Dead letters
          </button>
          {configured !== true && (
            <button
              type="button"
              class="danger"
              onClick={() => void run(client.removeSink(name), `Removed ${name}.`, onDone)}
            >
              Remove
            </button>
          )}
        </div>
      </td>
    </tr>
  )
}
