/**
 * Finds the documents that a plan applies to, all of them before the first one changes. Documents that
 * changed since are tested again.
 */
import type { Query } from '../../../lang/query.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import type { StoredDocument } from '../../../plan/plan.ts'
import type { TypeName } from '../../../schema/types.ts'
import type { Row } from '../connection/connections.ts'
import { pieces } from '../connection/cursor.ts'
import type { WriteContext } from './row-by-row.ts'
import { type Residual, matchStatement, residualTest, storedFrom } from '../read/reads.ts'

export interface Match {
  readonly key: string
  /** The version that matched. */
  readonly version: number
}

/** Ordered by `_id`. */
export async function matching(
  { query, idType }: { readonly query: Query<FieldRef>; readonly idType: TypeName },
  { transaction, table, work }: Pick<WriteContext, 'transaction' | 'table' | 'work'>,
): Promise<readonly Match[]> {
  const { statement, residual } = matchStatement({ query, idType, work }, table)
  if (!residual) return (await transaction.query(statement)).map(matchFrom)
  const matches: Match[] = []
  for await (const rows of pieces(transaction, statement)) {
    matches.push(...rows.filter((row) => residual(storedFrom(row))).map(matchFrom))
  }
  return matches
}

/** Whether a document still matches: it does if its version is the same, otherwise it is tested again. */
export function stillMatches(
  query: Query<FieldRef>,
  { work }: Pick<WriteContext, 'work'>,
): (match: Match, stored: StoredDocument) => boolean {
  let test: Residual | undefined
  return ({ version }, stored) => stored.version === version || (test ??= residualTest(query, work))(stored)
}

function matchFrom(row: Row): Match {
  return { key: row[4]!, version: Number(row[1]) }
}

/** Large enough for few round trips, small enough for all its documents to fit in memory. */
const BATCH = 200

export function* batchesOf<T>(items: readonly T[], size = BATCH): Generator<readonly T[]> {
  for (let i = 0; i < items.length; i += size) yield items.slice(i, i + size)
}
