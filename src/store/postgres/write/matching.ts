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

interface SizedMatch extends Match {
  /** Of the text of the document. */
  readonly bytes: number
}

/** Ordered by `_id`. */
export async function matching(
  { query, idType }: { readonly query: Query<FieldRef>; readonly idType: TypeName },
  { transaction, table, work }: Pick<WriteContext, 'transaction' | 'table' | 'work'>,
): Promise<readonly SizedMatch[]> {
  const { statement, residual } = matchStatement({ query, idType, work }, table)
  if (!residual) return (await transaction.query(statement)).map(matchFrom)
  const matches: SizedMatch[] = []
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

function matchFrom(row: Row): SizedMatch {
  return { key: row[4]!, version: Number(row[1]), bytes: Number(row[5]) }
}

/** Large enough for few round trips. */
const BATCH = 200

/** Of the documents of a batch, which are in memory together. */
const BATCH_BYTES = 16 * 1024 * 1024

export function* batchesOf(matches: readonly SizedMatch[], maxCount = BATCH): Generator<readonly Match[]> {
  let start = 0
  let bytes = 0
  for (const [i, match] of matches.entries()) {
    const isFull = i - start === maxCount || bytes + match.bytes > BATCH_BYTES
    if (isFull && i > start) {
      yield matches.slice(start, i)
      start = i
      bytes = 0
    }
    bytes += match.bytes
  }
  if (start < matches.length) yield matches.slice(start)
}

/** Whether all of the documents may be in memory together. */
export function fitInMemory(matches: readonly SizedMatch[]): boolean {
  return matches.reduce((sum, { bytes }) => sum + bytes, 0) <= BATCH_BYTES
}
