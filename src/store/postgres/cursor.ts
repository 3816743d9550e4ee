/** Reads a long answer piece by piece, all of it as of one moment. */
import type { Statement } from '../sql/fragment.ts'
import type { Row, Session } from './connections.ts'

const PIECE = 500

/** To be used inside a transaction, one at a time. */
export async function* pieces(session: Session, { text, values }: Statement): AsyncGenerator<readonly Row[]> {
  await session.ask({ text: `declare piecewise no scroll cursor for ${text}`, values })
  try {
    for (;;) {
      const rows = await session.ask({ text: `fetch ${PIECE} from piecewise`, values: [] })
      if (rows.length > 0) yield rows
      if (rows.length < PIECE) break
    }
  } finally {
    await session.ask({ text: 'close piecewise', values: [] }).catch(() => undefined)
  }
}
