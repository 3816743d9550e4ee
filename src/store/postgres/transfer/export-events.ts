/** Watched changes and sinks, as they move from one store to another. */
import { setTimeout as pause } from 'node:timers/promises'
import {
  type ArchivedSinks,
  SINK_DEFAULTS,
  SINK_KEYS,
  SINK_TABLES,
  type SinkTable,
} from '../../transfer-sinks.ts'
import type { ArchivedEvent } from '../../events.ts'
import type { Statement } from '../../sql/fragment.ts'
import type { OutboxReading } from '../../tables/outbox-heads.ts'
import { exportEvents } from '../../tables/outbox.ts'
import type { Session } from '../connection/connections.ts'
import { readEventState } from '../events/event-numbers.ts'

const PAGE = 200
const BOUNDS = { timeLimitMs: 60_000 }

/** Of a store that nobody else uses; what has no number yet is waited for. */
export async function* archivedEvents(
  session: Session,
  outbox: Omit<OutboxReading, 'bounds'>,
): AsyncGenerator<readonly ArchivedEvent[]> {
  await untilNumbered(session)
  for (let since = 0; ;) {
    const events = await exportEvents({ ...outbox, bounds: BOUNDS }, since, PAGE)
    if (events.length === 0) return
    since = events.at(-1)!.seq
    yield events
  }
}

async function untilNumbered(session: Session): Promise<void> {
  const text = 'select count(*) from smalt_outbox where seq is null'
  for (const deadline = performance.now() + BOUNDS.timeLimitMs; ; await pause(20)) {
    const [row] = await session.query({ text, values: [] })
    const { reserved, published } = await readEventState(session)
    if (row![0] === '0' && reserved === published) return
    if (performance.now() > deadline) throw new Error('events get no numbers')
  }
}

export async function archivedLastEvent(session: Session): Promise<number> {
  await untilNumbered(session)
  return (await readEventState(session)).published
}

export function eventsStatement(events: readonly ArchivedEvent[]): Statement {
  const rows = events.map((event) => {
    const { seq, id, entity, hook, operation, document, at, details, before, after, holder } = event
    return [seq, at, document, id, entity, hook, operation, details, before, after, holder?.id ?? null]
  })
  const places = rows.map((row, i) => {
    const [seq, at, document, ...rest] = row.map((_, k) => `$${i * row.length + k + 1}`)
    return `(${seq}::bigint, ${at}::bigint, ${document}, ${document}, ${rest.join(', ')})`
  })
  const text = `insert into smalt_outbox(
      seq, at, doc, document, id, entity, hook, operation, details, before, after, holder)
    values ${places.join(', ')}`
  return { text, values: rows.flat() }
}

/** Later events get higher numbers; what came before the oldest that came along went where it came from. */
export async function putLastEvent(session: Session, last: number): Promise<void> {
  const [row] = await session.query({ text: 'select min(seq) from smalt_outbox', values: [] })
  const oldest = row![0]
  const trimmed = typeof oldest === 'string' ? Number(oldest) - 1 : last
  const text = 'update smalt_event_state set reserved = $1, published = $1, trimmed = $2 where one = 1'
  await session.query({ text, values: [last, trimmed] })
}

export async function archivedSinks(session: Session): Promise<ArchivedSinks> {
  const rowsOf = async (table: SinkTable): Promise<readonly (readonly string[])[]> => {
    const text = `select ${SINK_TABLES[table].join(', ')} from ${table} order by ${SINK_KEYS[table]}`
    return (await session.query({ text, values: [] })) as readonly (readonly string[])[]
  }
  return { smalt_sink: await rowsOf('smalt_sink'), smalt_sink_item: await rowsOf('smalt_sink_item') }
}

export async function addSinks(session: Session, sinks: ArchivedSinks): Promise<void> {
  for (const table of Object.keys(SINK_TABLES) as SinkTable[]) {
    const others = SINK_DEFAULTS[table]
    const columns = [...SINK_TABLES[table], ...Object.keys(others)]
    const places = columns.map((_, i) => `$${i + 1}`).join(', ')
    const text = `insert into ${table}(${columns.join(', ')}) values (${places})`
    for (const row of sinks[table]) await session.query({ text, values: [...row, ...Object.values(others)] })
  }
}

export async function clearEvents(session: Session): Promise<void> {
  for (const table of ['smalt_outbox', ...Object.keys(SINK_TABLES)]) {
    await session.query({ text: `delete from ${table}`, values: [] })
  }
  await putLastEvent(session, 0)
}
