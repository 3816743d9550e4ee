/** Statements of prepared finds: written once per shape, and bound to the arguments of each request. */
import type { Json } from '../../base/json/json.ts'
import { memoized, once } from '../../base/memo.ts'
import type { Arguments } from '../../lang/operand.ts'
import { isLiteral } from '../../lang/parameters.ts'
import type { Query } from '../../lang/query.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import type { ReadPlan } from '../../plan/plan.ts'
import { type PreparedStatement, type Statement, bindStatement } from './fragment.ts'

export interface WrittenRead {
  readonly page: PreparedStatement
  readonly count: () => PreparedStatement
  /** The part of the query that cannot be pushed down. */
  readonly residual?: Query<FieldRef>
  /** Whether the page is best read in the same way for all values, so that planning it once suffices. */
  readonly hasOnePlan?: boolean
}

export interface BoundRead {
  readonly page: Statement
  readonly count: () => Statement
}

type Write<T> = (plan: ReadPlan, table: T) => WrittenRead

/** The values after which a page begins are arguments, too. */
export function bindRead(
  { page, count }: WrittenRead,
  { arguments: given = [], after = [] }: ReadPlan,
): BoundRead {
  const values: Arguments = after.length === 0 ? given : [...given, ...after]
  return { page: bindStatement(page, values), count: () => bindStatement(count(), values) }
}

/**
 * Caches `write` per prepared find and table. Requests of one shape share the query object, or without a query the sort;
 * derived plans, for example for another page, differ in the rest, so the cached plan is compared.
 */
export function writtenOnce<T extends object>(write: Write<T>): Write<T> {
  const known = memoized((_shared: object) => new WeakMap<T, { plan: ReadPlan; read: WrittenRead }>())
  return (plan, table) => {
    if (!plan.arguments || !(plan.after ?? []).every(isBindable)) return write(plan, table)
    const byTable = known(plan.query ?? plan.sort)
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
    a.idType === b.idType &&
    a.withSources === b.withSources &&
    isAfterAlike(a.after, b.after)
  )
}

/** SQL depends on which of the values are null, and on the length of long ones. */
function isAfterAlike(a: ReadPlan['after'], b: ReadPlan['after']): boolean {
  if (!a || !b) return a === b
  return a.length === b.length && a.every((value, i) => (value === null) === (b[i] === null))
}

function isBindable(value: Json): boolean {
  return value === null || isLiteral(value)
}
