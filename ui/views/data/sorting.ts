/** The sort of a table: in the address `-born,name`, in requests `[{"born":"$desc"},{"name":"$asc"}]`. */
import { type Json, isArray, isObject } from '../../client/json.ts'
import { escaped, unescaped } from '../../schema/path-list.ts'

export interface SortKey {
  readonly path: string
  readonly isDescending: boolean
}

export function parseSort(text: string | undefined): readonly SortKey[] {
  if (text === undefined || text === '') return []
  return text.split(',').map((part) => ({
    path: unescaped(part.replace(/^-/, '')),
    isDescending: part.startsWith('-'),
  }))
}

export function printSort(keys: readonly SortKey[]): string {
  return keys.map(({ path, isDescending }) => `${isDescending ? '-' : ''}${escaped(path)}`).join(',')
}

export function sortRequest(keys: readonly SortKey[]): Json | undefined {
  if (keys.length === 0) return undefined
  return keys.map(({ path, isDescending }) => ({ [path]: isDescending ? '$desc' : '$asc' }))
}

/** The keys of a sort as requests have it; undefined where there is none, or it is more than names and directions. */
export function sortIn(sort: Json | undefined): readonly SortKey[] | undefined {
  const parts = isArray(sort) ? sort : [sort]
  const keys = parts.flatMap((part) =>
    isObject(part) ? Object.entries(part).map(([path, to]) => ({ path, isDescending: to === '$desc' })) : [],
  )
  return keys.length === parts.length ? keys : undefined
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
