/** The marker of an unfinished import: a table that exists until the import is finished. */
import type { Engine, EngineSession } from '../engine.ts'
import { sql } from '../sql/fragment.ts'
import { IncompleteImportError } from '../transfer.ts'

export async function refuseIncompleteImport(engine: Engine, session: EngineSession): Promise<void> {
  if (await hasImportMarker(engine, session)) throw new IncompleteImportError()
}

/** Reads in the transaction of the session, if there is one. */
export async function hasImportMarker(engine: Engine, session: EngineSession): Promise<boolean> {
  return (await session.query(engine.findImportMarker)).length > 0
}

export const MARK = sql`create table smalt_moving(begun text)`
export const UNMARK = sql`drop table smalt_moving`
