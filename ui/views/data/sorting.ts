/** The sort of a table: in the address `-born,name`, in requests `[{"born":"$desc"},{"name":"$asc"}]`. */
import type { Json } from '../../client/json.ts'

export interface SortKey {
  readonly path: string
  readonly isDescending: boolean
}

export function parseSort(text: string | undefined): readonly SortKey[] {
  if (text === undefined || text === '') return []
  return text.split(',').map((part) => ({ path: part.replace(/^-/, ''), isDescending: part.startsWith('-') }))
}

export function printSort(keys: readonly SortKey[]): string {
  return keys.map(({ path, isDescending }) => `${isDescending ? '-' : ''}${path}`).join(',')
}

export function sortRequest(keys: readonly SortKey[]): Json | undefined {
  if (keys.length === 0) return undefined
  return keys.map(({ path, isDescending }) => ({ [path]: isDescending ? '$desc' : '$asc' }))
}

/** Ascending, descending, none; `isAdded` keeps the other keys. */
export function toggleSort(keys: readonly SortKey[], path: string, isAdded: boolean): readonly SortKey[] {
  const current = keys.find((each) => each.path === path)
  const next = !current
    ? [{ path, isDescending: false }]
    : current.isDescending
      ? []
      : [{ path, isDescending: true }]
  if (!isAdded) return next
  const at = keys.findIndex((each) => each.path === path)
  return at === -1 ? [...keys, ...next] : keys.toSpliced(at, 1, ...next)
}
