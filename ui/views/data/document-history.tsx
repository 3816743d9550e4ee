/** The versions of a document as differences: what changed, who did it, and when. */
import type { JSX } from 'preact'
import { useLoaded } from '../../app/loading.ts'
import { client } from '../../app/session.ts'
import { type Json, textOf } from '../../client/json.ts'
import type { Target } from '../../client/types.ts'
import { Empty, Failure, Progress } from '../../parts/notices.tsx'
import { Value } from '../../parts/value.tsx'
import { differences } from '../../schema/draft.ts'

export function DocumentHistory({ target, id }: { readonly target: Target; readonly id: Json }): JSX.Element {
  const versions = useLoaded(() => client.history(target, id), [target.entity, target.version, textOf(id)])
  if (versions.failure !== undefined) return <Failure failure={versions.failure} onRetry={versions.reload} />
  if (!versions.value) return <Progress label="Loading the history" />
  if (versions.value.length === 0) return <Empty title="No history yet" />
  const past = versions.value.map((each, i, all) => ({ ...each, previous: all[i - 1]?.document }))
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
