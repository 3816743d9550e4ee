/** How often a statement checks that the caller still waits. */
import { type Query, childrenOf, ownFieldsOf } from '../../../lang/query.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import type { ReadPlan } from '../../../plan/plan.ts'
import { type Fragment, raw, sql } from '../../sql/fragment.ts'
import { searchedSource } from '../../layout/word-source.ts'
import { SQLITE } from '../../sql/sqlite-dialect.ts'
import { typeOf } from '../../sql/translation.ts'
import type { Table } from '../catalogue.ts'
import { isHeld } from '../columns.ts'

/**
 * Checks at every row, or at every 64th where all conditions and sort keys are read from columns or from a full-text
 * table: such a row takes a fraction of a microsecond, less than the check itself. Node.js also keeps some 24 bytes for
 * each call of a function until the statement returns a row, which a count of all documents never does before its end.
 */
export function watch({ query, sort }: Pick<ReadPlan, 'query' | 'sort'>, table: Table): Fragment {
  const row = raw('no')
  const isLight =
    (query === undefined || readsColumns(query, table)) && sort.every(({ field }) => isColumn(field, table))
  return isLight ? atSome(row) : SQLITE.alive(row)
}

/** A check at every 64th row. */
export function atSome(row: Fragment): Fragment {
  return sql`((${row} & 63) <> 63 or ${SQLITE.alive(row)})`
}

function readsColumns(query: Query<FieldRef>, table: Table): boolean {
  if (query.kind === 'compare' || query.kind === 'in') {
    return ownFieldsOf(query).every((field) => isColumn(field, table))
  }
  if (query.kind === 'text') return table.wordTables.has(searchedSource(query))
  const isLogical = query.kind === 'and' || query.kind === 'or' || query.kind === 'not'
  return isLogical && childrenOf(query).every((child) => readsColumns(child, table))
}

function isColumn({ up, steps, field }: FieldRef, { columns }: Table): boolean {
  return up === 0 && field.kind === 'simple' && isHeld(columns, steps, typeOf(field))
}
