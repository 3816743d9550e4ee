/** The live tail: events as they occur, newest first. A lost connection is taken up again, without a gap. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { noteFailure, useLoaded } from '../../app/loading.ts'
import { change, href, usePlace } from '../../app/place.ts'
import { callerKey, client } from '../../app/session.ts'
import type { EventFilter } from '../../client/event-client.ts'
import { RequestFailure } from '../../client/failure.ts'
import { printJson, textOf } from '../../client/json.ts'
import type { SmaltEvent } from '../../client/types.ts'
import { Empty } from '../../parts/notices.tsx'
import { Value } from '../../parts/value.tsx'
import { differences } from '../../schema/draft.ts'

/** Events that are shown; older ones are dropped. */
const MAX_SHOWN = 300
const RECONNECT_MS = 2_000
/** Events that arrive within this time are drawn together: drawing thousands of them one by one would block the page. */
const DRAW_MS = 200

type State = 'connecting' | 'following' | 'paused' | 'lost'

export function LiveTail(): JSX.Element {
  const { query } = usePlace()
  const { entity, operation } = query
  const entities = useLoaded(() => client.entities(), [])
  const [isPaused, setIsPaused] = useState(false)
  const { events, state, problem } = useTail({ entity, operation }, isPaused, callerKey(query))
  return (
    <>
      <div class="row">
        <label>
          Entity
          <select
            value={entity ?? ''}
            onChange={(event) => change({ entity: event.currentTarget.value }, true)}
          >
            <option value="">all</option>
            {(entities.value ?? []).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Operation
          <select
            value={operation ?? ''}
            onChange={(event) => change({ operation: event.currentTarget.value }, true)}
          >
            <option value="">all</option>
            <option>insert</option>
            <option>update</option>
            <option>delete</option>
          </select>
        </label>
        <button type="button" aria-pressed={isPaused} onClick={() => setIsPaused(!isPaused)}>
          {isPaused ? 'Follow' : 'Pause'}
        </button>
        <span
          class={`badge ${state === 'following' ? 'active' : state === 'lost' ? 'failing' : ''}`}
          role="status"
        >
          {state === 'lost' ? `connection lost: ${problem}; trying again` : state}
        </span>
      </div>
      {events.length === 0 ? (
        <Empty title="No events yet">
          <p>
            An event appears here when a document changes whose entity has a hook. Hooks are a part of{' '}
            <a href={href(['schemas'])}>entity info</a>.
          </p>
        </Empty>
      ) : (
        <ol class="events" aria-label="Events, newest first">
          {events.map((event) => (
            <EventItem key={event.id} event={event} />
          ))}
        </ol>
      )}
    </>
  )
}

interface Tail {
  readonly events: readonly SmaltEvent[]
  readonly state: State
  readonly problem: string
}

function useTail(filter: EventFilter, isPaused: boolean, caller: string): Tail {
  const [events, setEvents] = useState<readonly SmaltEvent[]>([])
  const [state, setState] = useState<State>('connecting')
  const [problem, setProblem] = useState('')
  useEffect(() => setEvents([]), [filter.entity, filter.operation, caller])
  useEffect(() => {
    if (isPaused) {
      setState('paused')
      return undefined
    }
    const aborting = new AbortController()
    const { signal } = aborting
    let timer: ReturnType<typeof setTimeout> | undefined
    let since: string | undefined
    let arrived: readonly SmaltEvent[] = []
    let drawing: ReturnType<typeof setTimeout> | undefined
    const draw = (): void => {
      drawing = undefined
      const latest = arrived.toReversed()
      arrived = []
      setEvents((before) => [...latest, ...before].slice(0, MAX_SHOWN))
    }
    const onEvent = (event: SmaltEvent): void => {
      arrived = [...arrived, event].slice(-MAX_SHOWN)
      drawing ??= setTimeout(draw, DRAW_MS)
    }
    const follow = async (): Promise<void> => {
      setState('connecting')
      try {
        await client.follow({
          filter,
          since,
          signal,
          onEvent,
          onOpen: () => setState('following'),
          onPosition: (position) => (since = position),
        })
        setProblem('the service ended the stream')
      } catch (failure) {
        if (signal.aborted) return
        noteFailure(failure)
        setProblem((failure as Error).message)
        // the events after the position are not kept any more, or the store is an older one: go on from now
        if (failure instanceof RequestFailure && [400, 410].includes(failure.status)) since = undefined
      }
      if (signal.aborted) return
      setState('lost')
      timer = setTimeout(() => void follow(), RECONNECT_MS)
    }
    void follow()
    return () => {
      aborting.abort()
      clearTimeout(timer)
      clearTimeout(drawing)
      draw()
    }
  }, [filter.entity, filter.operation, isPaused, caller])
  return { events, state, problem }
}

function EventItem({ event }: { readonly event: SmaltEvent }): JSX.Element {
  const { operation, entity, documentId, principal, date, hook, before, after } = event
  return (
    <li>
      <header>
        <span class={`badge ${operation}`}>{operation}</span>
        {documentId === undefined ? (
          <strong>{entity}</strong>
        ) : (
          <a href={href(['data', entity], { doc: printJson(documentId) })}>
            {entity} {textOf(documentId)}
          </a>
        )}
        <time dateTime={date}>{date.replace('T', ' ')}</time>
        {principal !== undefined && <span class="who">by {principal}</span>}
        <small>
          {hook} #{event.seq}
        </small>
      </header>
      <dl class="changes">
        {differences(before ?? {}, after ?? {})
          .slice(0, 12)
          .map((each) => (
            <div key={each.path}>
              <dt>{each.path}</dt>
              <dd>
                {each.before !== undefined && (
                  <del>
                    <Value value={each.before} />
                  </del>
                )}{' '}
                {each.after !== undefined && (
                  <ins>
                    <Value value={each.after} />
                  </ins>
                )}
              </dd>
            </div>
          ))}
      </dl>
    </li>
  )
}
