/** Which fields the caller of the table may not read, by the access report of the service. */
import { useMemo } from 'preact/hooks'
import { useLoaded } from '../../app/loading.ts'
import { client, tokenStore, viewedAs } from '../../app/session.ts'
import type { AccessReport, Target } from '../../client/types.ts'
import type { Column } from '../../schema/columns.ts'

interface HiddenFields extends Target {
  readonly caller: string
  readonly columns: readonly Column[]
}

/** Empty with a token: the page does not know its roles, and the service leaves the fields out anyway. */
export function useHiddenFields({ entity, version, caller, columns }: HiddenFields): ReadonlySet<string> {
  const report = useLoaded(async () => {
    return tokenStore.get() === '' ? await client.accessOf({ entity, version }) : undefined
  }, [entity, version, caller])
  return useMemo(() => {
    const { value } = report
    if (!value) return NONE
    return new Set(columns.map(({ path }) => path).filter((path) => !isReadable(value, path)))
  }, [report.value, columns, caller])
}

const NONE: ReadonlySet<string> = new Set()
const OTHERS = 'anyone else'

/** A caller may what any of its roles may, and what everybody may. */
function isReadable(report: AccessReport, path: string): boolean {
  const grants = report.fields.find((each) => each.path === path)?.find
  if (!grants) return true
  return [...viewedAs().roles, OTHERS].some((role) => (grants[role] ?? grants[OTHERS]) !== 'no')
}
