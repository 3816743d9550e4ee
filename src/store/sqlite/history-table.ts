/** The history table of a collection: its name, its columns, and the timestamp from which it is complete. */
import type { DatabaseSync } from 'node:sqlite'

export function historyTableName(no: number): string {
  return `past_${no}`
}

export function createHistory(database: DatabaseSync, no: number): void {
  const name = historyTableName(no)
  database.exec(
    `create table ${name}(
       no integer primary key, id not null, follows integer not null, version integer not null,
       operation text not null, principal text not null, doc text not null);
     create index ${name}_id on ${name}(id, follows)`,
  )
}

/** The earliest timestamp from which history is complete: later than every version written so far. */
export function beginningOf(database: DatabaseSync, no: number, now: number): number {
  const latest = (table: string): number =>
    Number(database.prepare(`select max(version) latest from ${table}`).get()!['latest'] ?? 0)
  return Math.max(now, latest(`doc_${no}`) + 1, latest(historyTableName(no)) + 1)
}
