/** The rows of a table with the values of other documents by which they are sorted. */
import { type FieldRef, sortsByOthers } from '../../../lang/resolve/scope.ts'
import type { SortKey } from '../../../lang/sort.ts'
import { type Fragment, join, raw, sql } from '../../sql/fragment.ts'
import { sortValue } from '../../sql/order-by.ts'
import type { Translation } from '../../sql/translation.ts'
import { type Documents, type Writing, beginStatement, translation } from './translate.ts'

export interface SortedRows {
  /** The rows that satisfy all terms. Those of `later` may name the values that they are sorted by. */
  readonly from: (terms: readonly Fragment[], later?: readonly Fragment[]) => Fragment
  /** The translation of sort keys. */
  readonly to: Translation
}

/** The name of the rows in conditions, where it is not that of their table: they are selected in a sub-select then. */
export function nameOfRows(sort: readonly SortKey<FieldRef>[], { alias }: Writing): string | undefined {
  return sortsByOthers(sort) ? alias('r') : undefined
}

/**
 * A page after a cursor names a value several times. PostgreSQL inlines a common table expression only where it is named
 * once, and scans it otherwise, so each value becomes a column of the rows; `offset 0` keeps it from being computed again.
 */
export function sortedRows(
  sort: readonly SortKey<FieldRef>[],
  documents: Documents,
  { writing, name }: { readonly writing: Writing; readonly name: string | undefined },
): SortedRows {
  const { table } = documents
  const to = translation(documents, beginStatement())
  if (name === undefined) {
    return { from: (terms, later = []) => fromWhere(raw(table.name), [...terms, ...later]), to }
  }
  const around = translation(documents, writing, name)
  const joinedValues = new Map<FieldRef, Fragment>()
  const columns = sort
    .filter(({ field }) => field.joined)
    .map(({ field, descending }) => {
      const column = raw(writing.alias('l'))
      joinedValues.set(field, column)
      return sql`${sortValue(field, descending, around)} as ${column}`
    })
  const from: SortedRows['from'] = (terms, later = []) => {
    const rows = fromWhere(raw(`${table.name} ${name}`), terms)
    const select = sql`select ${join([raw(`${name}.*`), ...columns], ', ')}${rows} offset 0`
    return fromWhere(sql`(${select}) as ${raw(table.name)}`, later)
  }
  return { from, to: { ...to, joinedValues } }
}

export function fromWhere(from: Fragment, terms: readonly Fragment[]): Fragment {
  const filter = terms.length > 0 ? sql` where ${join(terms, ' and ')}` : raw('')
  return sql` from ${from}${filter}`
}
