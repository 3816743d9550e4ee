/** Conditions for keyset pagination: a row comes after another one in an order, so that a search can resume. */
import { type Fragment, type SqlValue, param, raw, sql } from './fragment.ts'

export interface OrderedValue {
  readonly value: Fragment
  readonly descending: boolean
}

/** `last` has the values of the other row. Null sorts first; the last value is unique and decides alone. */
export function afterRow([first, ...others]: readonly OrderedValue[], last: readonly SqlValue[]): Fragment {
  const { value, descending } = first!
  const isAfter = comesAfter(value, last[0]!, descending)
  if (others.length === 0) return isAfter
  return sql`(${isAfter} or (${isEqual(value, last[0]!)} and ${afterRow(others, last.slice(1))}))`
}

function comesAfter(value: Fragment, last: SqlValue, descending: boolean): Fragment {
  if (last === null) return descending ? raw('false') : sql`${value} is not null`
  return descending ? sql`(${value} < ${param(last)} or ${value} is null)` : sql`${value} > ${param(last)}`
}

function isEqual(value: Fragment, last: SqlValue): Fragment {
  return last === null ? sql`${value} is null` : sql`${value} = ${param(last)}`
}
