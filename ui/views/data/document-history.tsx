/** The versions of a document as differences: what changed, who did it, and when. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useLoaded } from '../../app/loading.ts'
import { client } from '../../app/session.ts'
import { type Json, textOf } from '../../client/json.ts'
import type { History, Target } from '../../client/types.ts'
import { Empty, Failure, Progress } from '../../parts/notices.tsx'
import { Value } from '../../parts/value.tsx'
import { differences } from '../../schema/draft.ts'

interface DocumentHistoryProps {
  readonly target: Target
  readonly id: Json
  /** Changes when the document is written. */
  readonly documentVersion: string
}

/** So many versions are shown at first, and more with each click. */
const STEP = 100

export function DocumentHistory({ target, id, documentVersion }: DocumentHistoryProps): JSX.Element {
  const [count, setCount] = useState(STEP)
  const { entity, version } = target
  const history = useLoaded(
    () => client.history(target, id, count),
    [entity, version, textOf(id), documentVersion, count],
  )
  if (history.failure !== undefined) return <Failure failure={history.failure} onRetry={history.reload} />
  if (!history.value) return <Progress label="Loading the history" />
  const { versions, before, older } = history.value
  if (versions.length === 0) return <Empty title="No history yet" />
  return (
    <>
      <VersionList versions={versions} before={before} />
      {older > 0 && (
        <button type="button" disabled={history.isLoading} onClick={() => setCount(count + STEP)}>
          Show older versions ({older.toLocaleString('en')})
        </button>
      )}
    </>
  )
}

function VersionList({ versions, before: first }: Pick<History, 'versions' | 'before'>): JSX.Element {
  const past = versions.map((each, i, all) => ({ ...each, previous: (all[i - 1] ?? first)?.document }))
  return (
    <ol class="history">
      {past.toReversed().map(({ documentVersion, date, operation, principal, document, previous }) => (
        <li key={documentVersion}>
          <header>
            <span class={`badge ${operation ?? 'update'}`}>{operation ?? 'before the history'}</span>
            <time dateTime={date}>{date.replace('T', ' ').replace(/\.(\d{3})\d*Z$/, '.$1Z')}</time>
            {principal !== undefined && principal !== '' && <span class="who">by {principal}</span>}
          </header>
          <dl class="changes">
            {differences(previous ?? {}, document ?? {})
              .filter(({ path }) => path !== 'objectType')
              .map(({ path, before, after }) => (
                <div key={path}>
                  <dt>{path}</dt>
                  <dd>
                    {before !== undefined && (
                      <del>
                        <Value value={before} />
                      </del>
                    )}
                    {before !== undefined && after !== undefined && ' → '}
                    {after !== undefined && (
                      <ins>
                        <Value value={after} />
                      </ins>
                    )}
                  </dd>
                </div>
              ))}
          </dl>
        </li>
      ))}
    </ol>
  )
}
