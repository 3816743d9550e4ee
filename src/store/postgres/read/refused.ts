/**
 * Queries whose statements the database refused. A cluster cannot execute every statement, and which ones depends on its
 * release. A refused query is not pushed down any more: the operation is repeated, and the service evaluates the query.
 */
import type { Query } from '../../../lang/query.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import { mentionsOthers } from '../../sql/joining.ts'
import { OutdatedError, isRefused } from '../connection/failures.ts'

type Queries = readonly (Query<FieldRef> | undefined)[]

const refused = new WeakSet<Query<FieldRef>>()

export function wasRefused(query: Query<FieldRef>): boolean {
  return refused.has(query)
}

/** Runs work that pushes down these queries. A refusal ends with `OutdatedError`, after which the runner repeats it. */
export async function noteRefusal<T>(queries: Queries, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isRefused(error)) throw error
    const others = queries.filter((query) => query && !refused.has(query) && !mentionsOthers(query))
    if (others.length === 0) throw error
    for (const query of others) refused.add(query!)
    throw new OutdatedError('the database refused a statement', { cause: error })
  }
}
