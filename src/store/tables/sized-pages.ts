/** Reads tables whose rows may each be as large as a document in pages that fit into memory. */
import type { Row, Rows } from '../engine.ts'
import { type Fragment, join, param, raw, sql } from '../sql/fragment.ts'
import { countWithin } from '../transfer.ts'

interface SizedTable {
  readonly name: string
  /** Those of the key come first. */
  readonly columns: readonly string[]
  /** Values of the key before those of any row. */
  readonly start: Row
  /** The bytes of a row, which the database knows without reading it. */
  readonly bytes: string
  readonly maxRows: number
}

/** Ordered by key. */
export async function* sizedPages(
  query: (statement: Fragment) => Promise<Rows>,
  { name, columns, start, bytes, maxRows }: SizedTable,
): AsyncGenerator<Rows> {
  const key = raw(columns.slice(0, start.length).join(', '))
  for (let last = start; ;) {
    const after = sql`(${key}) > (${join(last.map(param), ', ')})`
    const select = (selected: string, limit: number): Promise<Rows> =>
      query(
        sql`select ${raw(selected)} from ${raw(name)} where ${after} order by ${key} limit ${param(limit)}`,
      )
    const sizes = await select(bytes, maxRows)
    if (sizes.length === 0) return
    const page = await select(columns.join(', '), countWithin(sizes.map(([size]) => Number(size))))
    // Those that were counted may be gone, and others come after them.
    if (page.length === 0) continue
    yield page
    last = page.at(-1)!.slice(0, start.length)
  }
}
