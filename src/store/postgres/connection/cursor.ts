/** Reads a long answer piece by piece, all of it as of one moment. */
import type { Statement } from '../../sql/fragment.ts'
import type { Row, Session } from './connections.ts'
import { sizeOf } from './collect-rows.ts'

/** About as much is held of an answer at a time. */
const PIECE_BYTES = 8 * 1024 * 1024

/** Few sizes, so that few texts of statements are to be remembered; pieces grow from each to the next. */
const SIZES = [1, 8, 64, 500] as const

/** So many rows are fetched before anything is known of them. */
export const FIRST_PIECE = 8

/** To be used inside a transaction, one at a time; `mostRows` is for rows of which some are known to be large. */
export async function* pieces(
  session: Session,
  { text, values }: Statement,
  maxRows = Infinity,
): AsyncGenerator<readonly Row[]> {
  await session.query({ text: `declare piecewise no scroll cursor for ${text}`, values })
  let size: number = FIRST_PIECE
  let largest = 1
  try {
    for (;;) {
      const rows = await session.query({ text: `fetch ${size} from piecewise`, values: [] })
      for (const row of rows) largest = Math.max(largest, sizeOf(row))
      if (rows.length > 0) yield rows
      if (rows.length < size) break
      size = sizeAfter(size, Math.min(maxRows, PIECE_BYTES / largest))
    }
  } finally {
    await session.query({ text: 'close piecewise', values: [] }).catch(() => undefined)
  }
}

/** The rows to come may be larger than all before, so that a piece is not many times the one before it. */
function sizeAfter(size: number, fitting: number): number {
  const next = SIZES.find((each) => each > size) ?? size
  return SIZES.findLast((each) => each <= fitting && each <= next) ?? 1
}
