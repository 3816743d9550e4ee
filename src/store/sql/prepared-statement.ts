/** Statements of prepared finds: written once per shape, and bound to the arguments of each request. */
import { memoized, once } from '../../base/memo.ts'
import type { Arguments } from '../../lang/operand.ts'
import type { Query } from '../../lang/query.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import type { ReadPlan } from '../../plan/plan.ts'
import { type PreparedStatement, type Statement, bindStatement } from './fragment.ts'

export interface WrittenRead {
  readonly page: PreparedStatement
  readonly count: () => PreparedStatement
  /** The part of the query that cannot be pushed down. */
  readonly residual?: Query<FieldRef>
}

export interface BoundRead {
  readonly page: Statement
  readonly count: () => Statement
}

type Write<T> = (plan: ReadPlan, table: T) => WrittenRead

export function bindRead({ page, count }: WrittenRead, values: Arguments = []): BoundRead {
  return { page: bindStatement(page, values), count: () => bindStatement(count(), values) }
}

/**
 * Caches `write` per prepared find and table. Requests of one shape share the query object; derived plans,
 * for example for another page, differ in the rest, so the cached plan is compared.
 */
export function writtenOnce<T extends object>(write: Write<T>): Write<T> {
  const known = memoized((_query: Query<FieldRef>) => new WeakMap<T, { plan: ReadPlan; read: WrittenRead }>())
  return (plan, table) => {
    if (!plan.query || !plan.arguments) return write(plan, table)
    const byTable = known(plan.query)
    const last = byTable.get(table)
    if (last && isSamePage(last.plan, plan)) return last.read
    const written = write(plan, table)
    const read = { ...written, count: once(written.count) }
    byTable.set(table, { plan, read })
    return read
  }
}

function isSamePage(a: ReadPlan, b: ReadPlan): boolean {
  return (
    a.sort === b.sort &&
    a.joins === b.joins &&
    a.from === b.from &&
    a.to === b.to &&
    a.asOf === b.asOf &&
    a.idType === b.idType
  )
}
