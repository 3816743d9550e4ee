/** Watched changes, entered in the transaction of the change: there is one writer, so their numbers are in its order. */
import type { Tell, WatchedChange } from '../../plan/plan.ts'
import { EVENT_CHARACTERS, windowOf } from '../event-window.ts'
import type { Action, EventLimits, EventStore, EventsRequest, KeptEvent, KeptEvents } from '../events.ts'
import type { Statements } from './reads.ts'
import type { Writer } from './writer.ts'

export interface Outbox {
  readonly entering: (tell: Tell) => Enter
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
    entering: (tell) => (change, kept) => {
      const { document, before, after } = kept
      for (const { id, entity, hook, operation, at, details } of tell(change)) {
        statements.prepare(ENTER).run(id, entity, hook, operation, document, at, details, before, after)
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

const ENTER = `insert into smalt_event(id, entity, hook, operation, document, at, details, before, after)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`

export function eventsIn(outbox: Outbox, statements: Statements, writer: Writer): EventStore {
  return {
    readEvents: async (request) => readEvents(request, statements),
    eventBounds: async () => {
      const last = lastNumber(statements)
      return { first: numberFrom(statements, 'select min(seq) from smalt_event') ?? last + 1, last }
    },
    onEvents: outbox.onEvents,
    trimEvents: (limits) => trim(limits, statements, writer),
  }
}

export function readEvents(request: EventsRequest, statements: Statements): KeptEvents {
  const { since, limit, filter } = request
  const { entity = null, hook = null, operation = null } = filter
  const until = numberFrom(statements, SCANNED, since, windowOf(request))
  const events: KeptEvent[] = []
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

const READ = `select seq, id, entity, hook, operation, document, at, details, before, after from smalt_event
  where seq > ?1 and seq <= ?2 and (?3 is null or entity = ?3) and (?4 is null or hook = ?4)
  and (?5 is null or operation = ?5) order by seq`

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

function eventFrom(row: EventRow): KeptEvent {
  const [seq, id, entity, hook, operation, document, at, details, before, after] = row
  return { seq, id, entity, hook, operation, document, at, details, before, after }
}

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
    const removed = await writer.run(() => trimSome(limits, statements))
    gone += removed
    if (removed < SLICE) return gone
  }
}

const SLICE = 500

function trimSome({ keptSince, keepCount, notAfter }: EventLimits, statements: Statements): number {
  const mostKept = lastNumber(statements) - keepCount
  const oldest = statements
    .prepare(`select seq, at from smalt_event where seq <= ? order by seq limit ${SLICE}`)
    .all(notAfter) as unknown as (readonly [seq: number, at: number])[]
  const stays = oldest.findIndex(([seq, at]) => at >= keptSince && seq > mostKept)
  const going = stays < 0 ? oldest : oldest.slice(0, stays)
  if (going.length > 0) statements.prepare('delete from smalt_event where seq <= ?').run(going.at(-1)![0])
  return going.length
}
