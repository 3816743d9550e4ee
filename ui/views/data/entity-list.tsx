/** The entities, each with the number of its documents that the caller may find. */
import type { JSX } from 'preact'
import { useLoaded } from '../../app/loading.ts'
import { client } from '../../app/session.ts'
import { NameList } from '../../parts/name-list.tsx'
import { Failure } from '../../parts/notices.tsx'

interface EntityListProps {
  readonly entities: readonly string[]
  readonly current: string | undefined
  readonly caller: string
  /** Changes when documents were written. */
  readonly revision: number
}

export function EntityList({ entities, current, caller, revision }: EntityListProps): JSX.Element {
  const counts = useLoaded(() => client.counts(entities), [entities, caller, revision])
  const factOf = (name: string): string => {
    if (!counts.value) return ''
    return counts.value.get(name)?.toLocaleString('en') ?? 'no access'
  }
  return (
    <NameList names={entities} current={current} view="data" factOf={factOf}>
      {counts.failure !== undefined && <Failure failure={counts.failure} onRetry={counts.reload} />}
    </NameList>
  )
}
