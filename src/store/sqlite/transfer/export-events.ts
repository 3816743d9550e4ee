/** Watched changes and sinks, as they move from one store to another. */
import type { DatabaseSync } from 'node:sqlite'
import {
  type ArchivedSinks,
  SINK_DEFAULTS,
  SINK_KEYS,
  SINK_TABLES,
  type SinkTable,
} from '../../transfer-sinks.ts'
import type { ArchivedEvent } from '../../events.ts'
import type { OutboxReading } from '../../tables/outbox-heads.ts'
import { exportEvents } from '../../tables/outbox.ts'

const PAGE = 200

export async function* archivedEvents(outbox: OutboxReading): AsyncGenerator<readonly ArchivedEvent[]> {
  for (let since = 0; ;) {
    const events = await exportEvents(outbox, since, PAGE)
    if (events.length === 0) return
    since = events.at(-1)!.seq
    yield events
  }
}

export function addEvents(database: DatabaseSync, events: readonly ArchivedEvent[]): void {
  const insert = database.prepare(
    `insert into smalt_event(seq, id, entity, hook, operation, document, at, details, before, after, holder)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  for (const { seq, id, entity, hook, operation, document, at, details, before, after, holder } of events) {
    insert.run(seq, id, entity, hook, operation, document, at, details, before, after, holder?.seq ?? null)
  }
}

/** Later events get higher numbers. */
export function putLastEvent(database: DatabaseSync, last: number): void {
  database.exec(`delete from sqlite_sequence where name = 'smalt_event'`)
  database.prepare(`insert into sqlite_sequence(name, seq) values ('smalt_event', ?)`).run(last)
}

export function archivedSinks(database: DatabaseSync): ArchivedSinks {
  const rowsOf = (table: SinkTable): readonly (readonly string[])[] => {
    const columns = SINK_TABLES[table].map((column) => `cast(${column} as text)`).join(', ')
    const statement = database.prepare(`select ${columns} from ${table} order by ${SINK_KEYS[table]}`)
    statement.setReturnArrays(true)
    return statement.all() as unknown as string[][]
  }
  return { smalt_sink: rowsOf('smalt_sink'), smalt_sink_item: rowsOf('smalt_sink_item') }
}

export function addSinks(database: DatabaseSync, sinks: ArchivedSinks): void {
  for (const table of Object.keys(SINK_TABLES) as SinkTable[]) {
    const others = SINK_DEFAULTS[table]
    const columns = [...SINK_TABLES[table], ...Object.keys(others)]
    const places = columns.map(() => '?').join(', ')
    const insert = database.prepare(`insert into ${table}(${columns.join(', ')}) values (${places})`)
    for (const row of sinks[table]) insert.run(...row, ...Object.values(others))
  }
}

export function clearEvents(database: DatabaseSync): void {
  for (const table of ['smalt_event', ...Object.keys(SINK_TABLES)]) database.exec(`delete from ${table}`)
  database.exec(`delete from sqlite_sequence where name = 'smalt_event'`)
}
