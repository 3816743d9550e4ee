/** Reads a long result in pieces through a cursor, all of it from one snapshot. */
import type { Statement } from '../../sql/fragment.ts'
import type { SqlSession } from './connection.ts'
import type { Row } from './connections.ts'
import { sizeOf } from './collect-rows.ts'

/** The approximate size of a piece in memory. */
const PIECE_BYTES = 8 * 1024 * 1024

/** Few sizes, so that few texts of statements are prepared. Pieces grow from each size to the next. */
const SIZES = [1, 8, 64, 500] as const

/** Rows in the first piece, before the size of any row is known. */
export const FIRST_PIECE = 8

/**
 * Must run inside a transaction, one cursor at a time, because its name is fixed. `maxRows` limits a piece if
 * some rows are known to be large.
 */
export async function* pieces(
  session: SqlSession,
  { text, values }: Statement,
  maxRows = Infinity,
): AsyncGenerator<readonly Row[]> {
  await session.query({ text: `declare piecewise no scroll cursor for ${text}`, values })
  let size: number = FIRST_PIECE
  let largest = 1
  let hasFailed = false
  try {
    for (;;) {
      const rows = await session.query({ text: `fetch ${size} from piecewise`, values: [] })
      for (const row of rows) largest = Math.max(largest, sizeOf(row))
      if (rows.length > 0) yield rows
      if (rows.length < size) break
      size = sizeAfter(size, Math.min(maxRows, PIECE_BYTES / largest))
    }
  } catch (error) {
    hasFailed = true
    throw error
  } finally {
    // After a failure the transaction is rolled back, and the cursor with it. Otherwise a cursor that stays open, because
    // the time is over, would make the next read of the transaction fail.
    const closing = session.query({ text: 'close piecewise', values: [] })
    await (hasFailed ? closing.catch(() => undefined) : closing)
  }
}

/** Later rows may be larger than all rows so far, so a piece grows by one step at most. */
function sizeAfter(size: number, fitting: number): number {
  const next = SIZES.find((each) => each > size) ?? size
  return SIZES.findLast((each) => each <= fitting && each <= next) ?? 1
}
