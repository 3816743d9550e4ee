/** How large a table is, roughly and at no cost: the number of its last row, remembered and kept up to date by inserts. */
import { memoized } from '../../base/memo.ts'
import type { Table } from './catalogue.ts'
import type { Statements } from './reads.ts'

/** Tables up to this size are read through faster than a thread is asked. */
const SMALL = 2_000

const lastRowOf = memoized((_table: Table): { no: number | undefined } => ({ no: undefined }))

export function isSmall(table: Table, statements: Statements): boolean {
  return lastRowIn(table, statements) <= SMALL
}

/** The same for a table whose every row may be held against every row of the others, and theirs against each other. */
export function areSmallTogether(table: Table, others: readonly Table[], statements: Statements): boolean {
  const sizes = [table, ...others].map((each) => Math.max(1, lastRowIn(each, statements)))
  return sizes.reduce((product, size) => product * size, 1) <= SMALL
}

export function noteRow(table: Table, no: number): void {
  const last = lastRowOf(table)
  if (last.no !== undefined && no > last.no) last.no = no
}

/** Another thread may have added rows. */
export function forgetSizes(tables: Iterable<Table>): void {
  for (const table of tables) lastRowOf(table).no = undefined
}

function lastRowIn(table: Table, statements: Statements): number {
  const last = lastRowOf(table)
  last.no ??= readLastRow(table, statements)
  return last.no
}

function readLastRow(table: Table, statements: Statements): number {
  const [no] = statements.prepare(`select max(no) from ${table.name}`).get() as unknown as [number | null]
  return no ?? 0
}
