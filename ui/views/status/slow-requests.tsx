/** The newest slow requests, by time or by duration, each with the way to its explanation. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { noteFailure } from '../../app/loading.ts'
import { change, href, usePlace } from '../../app/place.ts'
import { client } from '../../app/session.ts'
import { RequestFailure } from '../../client/failure.ts'
import type { SlowRequest, SlowRequests as Slow } from '../../client/types.ts'
import { Failure } from '../../parts/notices.tsx'

const EVERY_MS = 2_000

export function SlowRequests(): JSX.Element {
  const { slow, failure } = useSlowRequests()
  const byDuration = usePlace().query['slow'] === 'duration'
  return (
    <section>
      <h2>Slow requests</h2>
      {failure !== undefined && <NotListed failure={failure} />}
      {slow && (
        <p class="hint">
          {slow.requests.length === 0
            ? `No request took ${slow.overMs} ms or longer since this process started. Slow ones will be listed here; nothing needs to be done.`
            : `The newest ${slow.kept} that took ${slow.overMs} ms or longer in the process that answers. ? stands for each value. Explain leads to the entity: enter values there to see the plan.`}
        </p>
      )}
      {slow && slow.requests.length > 0 && (
        <div class="scroll slow-list" tabIndex={0} role="region" aria-label="Slow requests">
          <table>
            <thead>
              <tr>
                <SortedHeader
                  label="When"
                  isCurrent={!byDuration}
                  onChoose={() => change({ slow: undefined }, true)}
                />
                <SortedHeader
                  label="Duration"
                  isCurrent={byDuration}
                  onChoose={() => change({ slow: 'duration' }, true)}
                />
                <th scope="col">Operation</th>
                <th scope="col">Entity</th>
                <th scope="col">Query</th>
                <th scope="col">Index</th>
                <th scope="col">Documents</th>
                <th scope="col">Plan</th>
              </tr>
            </thead>
            <tbody>
              {sorted(slow.requests, byDuration).map((each, i) => (
                <Row key={`${each.at} ${i}`} slow={each} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

function NotListed({ failure }: { readonly failure: unknown }): JSX.Element {
  if (!(failure instanceof RequestFailure) || failure.status !== 403) return <Failure failure={failure} />
  return (
    <p class="hint">
      They name entities and fields of all callers, so the list needs the permissions requests.inspect and
      metadata.find.
    </p>
  )
}

function useSlowRequests(): { readonly slow: Slow | undefined; readonly failure: unknown } {
  const [slow, setSlow] = useState<Slow>()
  const [failure, setFailure] = useState<unknown>()
  useEffect(() => {
    const aborting = new AbortController()
    const read = async (): Promise<void> => {
      try {
        setSlow(await client.slowRequests(aborting.signal))
        setFailure(undefined)
      } catch (error) {
        if (aborting.signal.aborted) return
        noteFailure(error)
        setFailure(error)
        // rights do not change by asking again
        if (error instanceof RequestFailure && error.status === 403) clearInterval(timer)
      }
    }
    const timer = setInterval(() => void read(), EVERY_MS)
    void read()
    return () => {
      aborting.abort()
      clearInterval(timer)
    }
  }, [])
  return { slow, failure }
}

/** The service lists them in the order in which they ended, the last one first. */
function sorted(requests: readonly SlowRequest[], byDuration: boolean): readonly SlowRequest[] {
  return requests.toSorted((a, b) => (byDuration ? b.ms - a.ms : a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
}

interface SortedHeaderProps {
  readonly label: string
  readonly isCurrent: boolean
  readonly onChoose: () => void
}

function SortedHeader({ label, isCurrent, onChoose }: SortedHeaderProps): JSX.Element {
  return (
    <th scope="col" aria-sort={isCurrent ? 'descending' : undefined}>
      <button type="button" class="quiet sort-by" onClick={onChoose}>
        {label}
        <span aria-hidden="true">{isCurrent ? ' ↓' : ''}</span>
      </button>
    </th>
  )
}

function Row({ slow }: { readonly slow: SlowRequest }): JSX.Element {
  const { at, ms, operation, entity, version, errorCode, query, sort, index } = slow
  return (
    <tr>
      <td>
        <time dateTime={at}>{new Date(at).toLocaleString('sv')}</time>
      </td>
      <td>{ms.toLocaleString('en')} ms</td>
      <td>
        {operation} {errorCode !== undefined && <span class="badge failing">{errorCode}</span>}
      </td>
      <th scope="row">
        {entity} <small>{version}</small>
      </th>
      <td class="shape">
        {query !== undefined && <code>{query}</code>} {sort !== undefined && <small>by {sort}</small>}
      </td>
      <td>{index ?? (query === undefined ? '' : 'none fits')}</td>
      <td>{documentsText(slow)}</td>
      <td>
        <a href={href(['data', entity], { v: version, explain: 'find' })}>
          Explain<span class="sr-only"> {entity}</span>
        </a>
      </td>
    </tr>
  )
}

function documentsText({ matched, modified, returned }: SlowRequest): string {
  const facts = [
    matched === undefined ? '' : `${matched.toLocaleString('en')} matched`,
    returned === undefined ? '' : `${returned.toLocaleString('en')} returned`,
    modified === undefined || modified === 0 ? '' : `${modified.toLocaleString('en')} modified`,
  ]
  return facts.filter((each) => each !== '').join(', ')
}
