/** The rows of a table with the values of other documents by which they are sorted. */
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import type { SortKey } from '../../../lang/sort.ts'
import { type Fragment, join, raw, sql } from '../../sql/fragment.ts'
import { sortValue } from '../../sql/order-by.ts'
import type { Translation } from '../../sql/translation.ts'
import { type Documents, type Writing, beginStatement, translation } from './translate.ts'

export interface SortedRows {
  /** The table, and beside it one value for each key that leads through references. */
  readonly from: Fragment
  /** The translation of sort keys. */
  readonly to: Translation
}

/**
 * A page after a cursor names a value several times. PostgreSQL inlines a common table expression only where it is named
 * once, and scans it otherwise, so each value is computed once, beside its row.
 */
export function sortedRows(
  sort: readonly SortKey<FieldRef>[],
  documents: Documents,
  writing: Writing,
): SortedRows {
  const { name } = documents.table
  const to = translation(documents, beginStatement())
  const keys = sort.filter(({ field }) => field.joined)
  if (keys.length === 0) return { from: raw(name), to }
  const around = translation(documents, writing, name)
  const joinedValues = new Map<FieldRef, Fragment>()
  const beside = keys.map(({ field, descending }) => {
    const alias = writing.alias('l')
    joinedValues.set(field, raw(`${alias}.v`))
    return sql` cross join lateral (select ${sortValue(field, descending, around)} as v offset 0) ${raw(alias)}`
  })
  return { from: join([raw(name), ...beside], ''), to: { ...to, joinedValues } }
}
