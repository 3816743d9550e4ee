/** One page of a find on the connection of this thread. */
import type { StatementSync } from 'node:sqlite'
import { endsHere } from '../../../plan/plan-properties.ts'
import type { ReadPlan } from '../../../plan/plan.ts'
import type { SqlValue } from '../../sql/fragment.ts'
import type { BoundRead } from '../../sql/prepared-statement.ts'
import type { Found, OnDocument } from '../../store.ts'
import { JOINED_FROM, type Statements, type StoredRow, storedFrom } from './reads.ts'

/** Reads one page, and the count of all matches where the page does not show it. */
export function readPage(
  plan: ReadPlan,
  take: OnDocument,
  { read, statements }: { readonly read: BoundRead; readonly statements: Statements },
): Found {
  const { page, count } = read
  let taken = 0
  try {
    const statement = statements.prepare(page.text)
    let largest = largestSeen.get(statement) ?? 0
    for (const row of rowsOf(statement, page.values, plan)) {
      taken++
      largest = Math.max(largest, lengthOf(row))
      take(storedFrom(row))
    }
    largestSeen.set(statement, largest)
  } catch (error) {
    // The driver does not reset a statement whose iteration was ended by an error.
    statements.forget(page.text)
    throw error
  }
  if (!plan.counted) return { matchCount: 0 }
  if (endsHere(plan, taken)) return { matchCount: plan.from + taken }
  const { text, values } = count()
  const [matchCount] = statements.prepare(text).get(...values) as unknown as [number]
  return { matchCount }
}

/**
 * Small pages are fetched at once, which is faster. Results that may be large are iterated, so that they are
 * never in memory as a whole.
 */
function rowsOf(
  statement: StatementSync,
  values: readonly SqlValue[],
  { from, to, joins }: ReadPlan,
): Iterable<StoredRow> {
  const most = to === undefined ? Infinity : to - from + 1
  const isJoined = joins !== undefined && joins.length > 0
  const isLittle =
    (most <= FEW && !isJoined) || most * (largestSeen.get(statement) ?? Infinity) <= MAX_AT_ONCE
  // Joined documents may be many times larger than any seen before.
  const isPage = isLittle && most <= (isJoined ? 100 : 1000)
  return (isPage ? statement.all(...values) : statement.iterate(...values)) as unknown as Iterable<StoredRow>
}

/** The size of a document and of the documents joined to it. */
function lengthOf(row: StoredRow): number {
  if (row.length === JOINED_FROM) return row[2].length
  const [, , text, ...joined] = row
  return joined.reduce((length, each) => length + (each?.length ?? 0), text.length)
}

/** The size of the largest row that a statement has returned. */
const largestSeen = new WeakMap<StatementSync, number>()
const FEW = 4
const MAX_AT_ONCE = 4 * 1024 * 1024
