/** Watched changes, entered in the transaction of the change: there is one writer, so their numbers are in its order. */
import type { CaptureChange, WatchedChange } from '../../../plan/plan.ts'
import { EVENT_CHARACTERS, windowOf } from '../../event-window.ts'
import {
  type Action,
  type ArchivedEvent,
  type EventHead,
  type EventLimits,
  type EventRange,
  type EventStates,
  type EventStore,
  type EventsRequest,
  type StoredEvent,
  type StoredEvents,
  holderOf,
  removable,
} from '../../events.ts'
import type { Statements } from '../read/reads.ts'
import type { Writer } from './writer.ts'

export interface Outbox {
  readonly entering: (captureChange: CaptureChange) => Enter
  readonly onEvents: (listener: () => void) => void
  /** To be called after each commit. */
  readonly announce: () => void
  /** The same for what another thread has entered. */
  readonly announceOthers: () => void
  /** Whether something was entered since the last commit that was announced. */
  readonly takeHasEntered: () => boolean
}

export type Enter = (change: WatchedChange, kept: Kept) => void

/** What is kept of a change besides what is told of it. */
interface Kept {
  readonly document: string
  readonly before: string | null
  readonly after: string | null
}

export function createOutbox(statements: Statements): Outbox {
  const listeners: (() => void)[] = []
  let hasEntered = false
  return {
    entering: (captureChange) => (change, kept) => {
      const entered: number[] = []
      for (const [i, { id, entity, hook, operation, at, details }] of captureChange(change).entries()) {
        const holder = entered[holderOf(i)] ?? null
        const { before, after } = holder === null ? kept : NO_STATES
        const row = [id, entity, hook, operation, kept.document, at, details, before, after, holder]
        entered.push(Number(statements.prepare(ENTER).run(...row).lastInsertRowid))
        hasEntered = true
      }
    },
    onEvents: (listener) => void listeners.push(listener),
    announce() {
      if (takeHasEntered()) callListeners()
    },
    announceOthers: callListeners,
    takeHasEntered,
  }

  function takeHasEntered(): boolean {
    const was = hasEntered
    hasEntered = false
    return was
  }

  function callListeners(): void {
    // those who wrote have their answers first
    setImmediate(() => {
      for (const listener of listeners) listener()
    })
  }
}

const NO_STATES: EventStates = { before: null, after: null }

const ENTER = `insert into smalt_event(id, entity, hook, operation, document, at, details, before, after, holder)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

export function eventsIn(outbox: Outbox, statements: Statements, writer: Writer): EventStore {
  return {
    readEvents: async (request) => readEvents(request, statements),
    readHeads: async (range) => readHeads(range, statements),
    readStates: async (holders) => readStates(holders, statements),
    eventBounds: async () => {
      const last = lastNumber(statements)
      return { first: numberFrom(statements, 'select min(seq) from smalt_event') ?? last + 1, last }
    },
    onEvents: outbox.onEvents,
    trimEvents: (limits) => trim(limits, statements, writer),
  }
}

export function readEvents(request: EventsRequest, statements: Statements): StoredEvents {
  const { since, limit, filter } = request
  const { entity = null, hook = null, operation = null } = filter
  const until = numberFrom(statements, SCANNED, since, windowOf(request))
  const events: StoredEvent[] = []
  let characters = 0
  const rows = statements.prepare(READ).iterate(since, until ?? since, entity, hook, operation)
  for (const row of rows as unknown as Iterable<EventRow>) {
    const event = eventFrom(row)
    events.push(event)
    characters += (event.before?.length ?? 0) + (event.after?.length ?? 0)
    if (events.length === limit || characters > EVENT_CHARACTERS) return { events, scannedTo: event.seq }
  }
  return { events, scannedTo: until ?? Math.max(since, lastNumber(statements)) }
}

/** Null where there is none after it. */
const SCANNED = 'select max(seq) from (select seq from smalt_event where seq > ? order by seq limit ? + 0)'

const COLUMNS = 'e.seq, e.id, e.entity, e.hook, e.operation, e.document, e.at, e.details'

/** An event that shares the documents of another one has none of its own. */
const FROM = 'from smalt_event e left join smalt_event held on held.seq = e.holder'

const READ = `select ${COLUMNS}, coalesce(e.before, held.before), coalesce(e.after, held.after) ${FROM}
  where e.seq > ?1 and e.seq <= ?2 and (?3 is null or e.entity = ?3) and (?4 is null or e.hook = ?4)
  and (?5 is null or e.operation = ?5) order by e.seq`

type EventRow = readonly [
  seq: number,
  id: string,
  entity: string,
  hook: string,
  operation: Action,
  document: string,
  at: number,
  details: string,
  before: string | null,
  after: string | null,
]

function eventFrom(row: EventRow): StoredEvent {
  const [seq, id, entity, hook, operation, document, at, details, before, after] = row
  return { seq, id, entity, hook, operation, document, at, details, before, after }
}

/** As the rows are, so that what is shared is read once. */
export function readArchived(since: number, limit: number, statements: Statements): readonly ArchivedEvent[] {
  const events: ArchivedEvent[] = []
  let characters = 0
  const rows = statements.prepare(READ_ARCHIVED).iterate(since)
  for (const row of rows as unknown as Iterable<[...EventRow, number | null, string | null]>) {
    const [holder, holderId] = row.slice(-2) as [number | null, string | null]
    const event = eventFrom(row as unknown as EventRow)
    events.push(holder === null ? event : { ...event, holder: { seq: holder, id: holderId! } })
    characters += (event.before?.length ?? 0) + (event.after?.length ?? 0)
    if (events.length === limit || characters > EVENT_CHARACTERS) return events
  }
  return events
}

const READ_ARCHIVED = `select ${COLUMNS}, e.before, e.after, e.holder, held.id ${FROM}
  where e.seq > ? order by e.seq`

function readHeads({ after, upTo }: EventRange, statements: Statements): readonly EventHead[] {
  const rows = statements.prepare(READ_HEADS).all(after, upTo) as unknown as readonly HeadRow[]
  return rows.map(([seq, id, entity, hook, operation, document, at, details, holder, bytes]) => {
    return { seq, id, entity, hook, operation, document, at, details, holder, bytes }
  })
}

/** The engine knows how long a text is without reading it. */
const READ_HEADS = `select ${COLUMNS}, coalesce(e.holder, e.seq),
  coalesce(octet_length(e.before), octet_length(held.before), 0)
  + coalesce(octet_length(e.after), octet_length(held.after), 0)
  ${FROM} where e.seq > ? and e.seq <= ? order by e.seq`

type HeadRow = readonly [
  seq: number,
  id: string,
  entity: string,
  hook: string,
  operation: Action,
  document: string,
  at: number,
  details: string,
  holder: number,
  bytes: number,
]

function readStates(holders: readonly number[], statements: Statements): ReadonlyMap<number, EventStates> {
  const rows = statements.prepare(READ_STATES).all(JSON.stringify(holders)) as unknown as readonly StatesRow[]
  return new Map(rows.map(([seq, before, after]) => [seq, { before, after }]))
}

const READ_STATES = 'select seq, before, after from smalt_event where seq in (select value from json_each(?))'

type StatesRow = readonly [seq: number, before: string | null, after: string | null]

/** Also of those that are gone: numbers are never given again. */
export function lastNumber(statements: Statements): number {
  return numberFrom(statements, `select seq from sqlite_sequence where name = 'smalt_event'`) ?? 0
}

function numberFrom(statements: Statements, text: string, ...values: number[]): number | undefined {
  const row = statements.prepare(text).get(...values) as unknown as [number | null] | undefined
  return row?.[0] ?? undefined
}

/** The oldest go first, a few at a time, so that nobody waits long for the writer. */
async function trim(limits: EventLimits, statements: Statements, writer: Writer): Promise<number> {
  let gone = 0
  for (;;) {
    const { removed, hasMore } = await writer.run(() => trimSome(limits, statements))
    gone += removed
    if (!hasMore) return gone
  }
}

const SLICE = 500

function trimSome({ keptSince, keepCount, notAfter }: EventLimits, statements: Statements) {
  const maxKept = lastNumber(statements) - keepCount
  const oldest = statements
    .prepare(`select seq, at, coalesce(holder, seq) from smalt_event order by seq limit ${SLICE + 1}`)
    .all() as unknown as (readonly [seq: number, at: number, holder: number])[]
  const stays = oldest.findIndex(([seq, at]) => seq > notAfter || (at >= keptSince && seq > maxKept))
  const most = stays < 0 ? oldest.length : stays
  const going = removable(
    oldest.map(([, , holder]) => holder),
    Math.min(most, SLICE),
  )
  if (going > 0) statements.prepare('delete from smalt_event where seq <= ?').run(oldest[going - 1]![0])
  return { removed: going, hasMore: going > 0 && most > SLICE }
}
