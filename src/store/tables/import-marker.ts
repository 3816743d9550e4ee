/** The mark of a store that a move is filling: a table, there while the move has not finished. */
import type { Engine, Session } from '../engine.ts'
import { sql } from '../sql/fragment.ts'
import { IncompleteImportError } from '../transfer.ts'

export async function refuseIncompleteImport(engine: Engine, session: Session): Promise<void> {
  if (await hasImportMarker(engine, session)) throw new IncompleteImportError()
}

/** As of the moment of the transaction, if there is one. */
export async function hasImportMarker(engine: Engine, session: Session): Promise<boolean> {
  return (await session.query(engine.findImportMarker)).length > 0
}

export const MARK = sql`create table smalt_moving(begun text)`
export const UNMARK = sql`drop table smalt_moving`
