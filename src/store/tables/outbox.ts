/** The outbox: events as rows, read by number in pages that fit into memory, and trimmed. */
import { EVENT_CHARACTERS, isWanted, windowOf } from '../event-window.ts'
import type { Engine } from '../engine.ts'
import {
  type ExportedEvent,
  type EventHead,
  type EventLimits,
  type EventStates,
  type EventStore,
  type EventsRequest,
  type StoredEvent,
  type StoredEvents,
  removable,
} from '../events.ts'
import { literals } from '../sql/comparands.ts'
import { param, raw, sql } from '../sql/fragment.ts'
import { type OutboxReading, type OutboxTable, boundsOf, headsIn } from './outbox-heads.ts'

export function createEventStore(engine: Engine, table: OutboxTable): EventStore {
  const { run } = engine
  return {
    readEvents: (request, bounds) => run('events', () => readEvents({ engine, table, bounds }, request)),
    readHeads: ({ after, upTo }, bounds) =>
      run('events', async () => {
        const range = sql`seq > ${param(after)} and seq <= ${param(upTo)} order by seq`
        return (await headsIn({ engine, table, bounds }, range)).map(({ head }) => head)
      }),
    readStates: (holders, bounds) => run('events', () => readStates({ engine, table, bounds }, holders)),
    eventBounds: () => run('events', () => boundsOf(engine, table)),
    onEvents: (listener) => engine.listen('events', listener),
    trimEvents: (limits) => run('trim', () => trim(engine, table, limits)),
  }
}

async function readEvents(reading: OutboxReading, request: EventsRequest): Promise<StoredEvents> {
  const { since, limit } = request
  const { last } = await boundsOf(reading.engine, reading.table)
  if (since >= last) return { events: [], scannedTo: since }
  const window = windowOf(request)
  const range = sql`seq > ${param(since)} and seq <= ${param(last)} order by seq limit ${param(window)}`
  const heads = (await headsIn(reading, range)).map(({ head }) => head)
  const { chosen, isCut } = chosenFrom(heads, request)
  const events = await eventsOf(reading, chosen)
  if (isCut || chosen.length === limit) return { events, scannedTo: chosen.at(-1)!.seq }
  return { events, scannedTo: heads.length < window ? last : heads.at(-1)!.seq }
}

/** Sizes are read before documents, so that a page fits into memory. */
function chosenFrom(heads: readonly EventHead[], { limit, filter }: Omit<EventsRequest, 'since'>) {
  const chosen: EventHead[] = []
  let size = 0
  for (const head of heads) {
    if (!isWanted(filter, head)) continue
    chosen.push(head)
    size += head.bytes
    if (chosen.length === limit || size > EVENT_CHARACTERS) return { chosen, isCut: true }
  }
  return { chosen, isCut: false }
}

async function eventsOf(
  reading: OutboxReading,
  heads: readonly EventHead[],
): Promise<readonly StoredEvent[]> {
  const states = await readStates(reading, [...new Set(heads.map(({ holder }) => holder))])
  return heads.flatMap((each) => {
    const { holder, bytes: _, ...head } = each
    const own = states.get(holder)
    // Absent when the event was deleted concurrently.
    return own ? [{ ...head, ...own }] : []
  })
}

async function readStates(
  { engine, table, bounds }: OutboxReading,
  holders: readonly number[],
): Promise<ReadonlyMap<number, EventStates>> {
  if (holders.length === 0) return new Map()
  const isIn = engine.dialect.isIn(raw('seq'), literals(holders), 'integer')
  const statement = sql`select seq, before, after from ${table.name} where ${isIn} order by seq`
  const rows = await engine.query(statement, { bounds })
  const textOf = (text: unknown): string | null => (typeof text === 'string' ? text : null)
  return new Map(
    rows.map(([seq, before, after]) => [Number(seq), { before: textOf(before), after: textOf(after) }]),
  )
}

/** Events as stored, so that shared documents are read once; in pages that fit into memory. */
export async function exportEvents(
  reading: OutboxReading,
  since: number,
  limit: number,
): Promise<readonly ExportedEvent[]> {
  const range = sql`seq > ${param(since)} order by seq limit ${param(limit)}`
  const placed = await headsIn(reading, range)
  const own = placed.map(({ head }) => head).filter(({ seq, holder }) => seq === holder)
  const { chosen } = chosenFrom(own, { limit, filter: {} })
  const end = chosen.length < own.length ? chosen.at(-1)!.seq : Infinity
  const states = await readStates(
    reading,
    chosen.map(({ seq }) => seq),
  )
  return placed
    .filter(({ head }) => head.seq <= end)
    .map(({ head: each, holderId }) => {
      const { holder, bytes: _, ...head } = each
      if (holder === head.seq) return { ...head, ...states.get(holder)! }
      return { ...head, before: null, after: null, holder: { seq: holder, id: holderId } }
    })
}

/** Deletes the oldest events in small batches, so that no write waits long. Events without a number stay. */
async function trim(engine: Engine, table: OutboxTable, limits: EventLimits): Promise<number> {
  const { last } = await boundsOf(engine, table)
  const until = Math.min(limits.notAfter, last)
  const maxKept = last - limits.keepCount
  for (let deleted = 0; ;) {
    const oldest = await engine.query(
      sql`select seq, at, coalesce(holder, ${raw(table.holderKey)}) from ${table.name}
        where seq is not null order by seq limit ${param(SLICE + 1)}`,
    )
    const firstKept = oldest.findIndex(
      ([seq, at]) => Number(seq) > until || (Number(at) >= limits.keptSince && Number(seq) > maxKept),
    )
    const most = firstKept < 0 ? oldest.length : firstKept
    const groups = oldest.map(([, , holder]) => String(holder))
    const count = removable(groups, Math.min(most, SLICE))
    if (count > 0) {
      const upTo = Number(oldest[count - 1]![0])
      const marking = table.setBounds({ first: upTo + 1 })
      if (marking.length > 0) await engine.batch(marking)
      await engine.batch([sql`delete from ${table.name} where seq <= ${param(upTo)}`])
    }
    deleted += count
    if (count === 0 || most <= SLICE) return deleted
  }
}

const SLICE = 500
