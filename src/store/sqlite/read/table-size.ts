/** A cheap estimate of the size of a table: the number of its last row, cached and updated by inserts. */
import { memoized } from '../../../base/memo.ts'
import type { Table } from '../catalogue.ts'
import type { Statements } from './reads.ts'

/** Reading tables up to this size is faster than a round trip to a reader thread. */
const SMALL = 2_000
/** Documents of this many bytes are evaluated within milliseconds, once for every term of a query. */
const SMALL_BYTES = 4 * 1024 * 1024

interface Size {
  /** The number of the last row. */
  no: number | undefined
  /** The average size of a document, from samples. */
  averageBytes: number
  /** How often the average was used since it was computed. */
  uses: number
}

const sizeOf = memoized((_table: Table): Size => ({ no: undefined, averageBytes: 0, uses: 0 }))

/** `terms`: how many parts of a query read each document. */
export function isSmall(table: Table, statements: Statements, terms: number = 1): boolean {
  const rows = lastRowIn(table, statements)
  return rows <= SMALL && rows * averageBytesIn(table, statements) * terms <= SMALL_BYTES
}

/** The same for a nested loop join, whose cost is the product of the numbers of rows. */
export function areSmallTogether(table: Table, others: readonly Table[], statements: Statements): boolean {
  const sizes = [table, ...others].map((each) => Math.max(1, lastRowIn(each, statements)))
  return sizes.reduce((product, size) => product * size, 1) <= SMALL
}

export function noteRow(table: Table, no: number): void {
  const last = sizeOf(table)
  if (last.no !== undefined && no > last.no) last.no = no
}

/** Clears the cached sizes, because another thread may have added rows. */
export function forgetSizes(tables: Iterable<Table>): void {
  for (const table of tables) Object.assign(sizeOf(table), { no: undefined, uses: SAMPLED_EVERY })
}

/** The number of the last row, an upper bound for the number of rows. */
export function lastRowIn(table: Table, statements: Statements): number {
  const last = sizeOf(table)
  last.no ??= readLastRow(table, statements)
  return last.no
}

const SAMPLED_EVERY = 200

/** SQLite knows the length of a text in bytes without reading it. */
function averageBytesIn(table: Table, statements: Statements): number {
  const size = sizeOf(table)
  if (size.averageBytes > 0 && ++size.uses < SAMPLED_EVERY) return size.averageBytes
  const sample = (order: string): string =>
    `select * from (select octet_length(doc) as bytes from ${table.name} order by no ${order} limit 20)`
  const text = `select avg(bytes) from (${sample('asc')} union all ${sample('desc')})`
  const [bytes] = statements.prepare(text).get() as unknown as [number | null]
  size.averageBytes = bytes ?? 1
  size.uses = 0
  return size.averageBytes
}

function readLastRow(table: Table, statements: Statements): number {
  const [no] = statements.prepare(`select max(no) from ${table.name}`).get() as unknown as [number | null]
  return no ?? 0
}
