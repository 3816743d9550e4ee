/** The mark of a store that a move is filling: a table, there while the move has not finished. */
import type { Session } from '../connection/connections.ts'

/** As of the moment of the transaction, if there is one. */
export async function isUnfinished(session: Session): Promise<boolean> {
  const text = `select 1 from pg_class where relname = 'smalt_moving'
    and relnamespace = (select oid from pg_namespace where nspname = current_schema())`
  return (await session.query({ text, values: [] })).length > 0
}

export const MARK = 'create table smalt_moving(begun text)'
export const UNMARK = 'drop table smalt_moving'
