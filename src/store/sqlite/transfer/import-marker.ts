/** The mark of a store that a move is filling: a table, there while the move has not finished. */
import type { DatabaseSync } from 'node:sqlite'

export function isUnfinished(database: DatabaseSync): boolean {
  return database.prepare(`select 1 from sqlite_master where name = 'smalt_moving'`).get() !== undefined
}

export const MARK = 'create table smalt_moving(begun text) strict'
export const UNMARK = 'drop table smalt_moving'
