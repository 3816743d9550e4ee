/** Watched changes as readers find them: those that have their number for good, up to the one that was published. */
import type { WritePlan } from '../../../plan/plan.ts'
import { EVENT_CHARACTERS, isWanted, windowOf } from '../../event-window.ts'
import {
  type Action,
  type ArchivedEvent,
  type EventHead,
  type EventLimits,
  type EventRange,
  type EventStates,
  type EventsRequest,
  type StoredEvent,
  type StoredEvents,
  MAX_SHARING,
  removable,
} from '../../events.ts'
import { arrayText } from '../../sql/postgres-dialect.ts'
import type { Bounds } from '../../bounds.ts'
import type { StoreSession } from '../../store.ts'
import type { Connections, Row, Session } from '../connection/connections.ts'

/** Numbers that were ever taken, those up to which every event can be read, and those up to which none is kept. */
export interface EventState {
  readonly reserved: number
  readonly published: number
  readonly trimmed: number
}

export async function readEventState(session: Session): Promise<EventState> {
  const text = 'select reserved, published, trimmed from smalt_event_state where one = 1'
  const [row] = await session.query({ text, values: [] })
  return { reserved: Number(row![0]), published: Number(row![1]), trimmed: Number(row![2]) }
}

export async function readEvents(
  request: EventsRequest,
  connections: Connections,
  bounds: Bounds,
): Promise<StoredEvents> {
  const { since, limit } = request
  const { published } = await readEventState(connections.quick)
  if (since >= published) return { events: [], scannedTo: since }
  const window = windowOf(request)
  const text = `select ${HEAD} from smalt_outbox where seq > $1 and seq <= $2 order by seq limit $3`
  const rows = await connections.query({ text, values: [since, published, window] }, bounds)
  const heads = await withHolders(rows, connections, bounds)
  const { chosen, isCut } = chosenFrom(heads, request)
  const events = await eventsOf(chosen, connections, bounds)
  if (isCut || chosen.length === limit) return { events, scannedTo: chosen.at(-1)!.seq }
  return { events, scannedTo: rows.length < window ? published : Number(rows.at(-1)![0]) }
}

/** How large events are is asked first, so that what is fetched fits into memory. */
function chosenFrom(heads: readonly EventHead[], { limit, filter }: EventsRequest) {
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
  heads: readonly EventHead[],
  connections: Connections,
  bounds: Bounds,
): Promise<readonly StoredEvent[]> {
  const holders = [...new Set(heads.map(({ holder }) => holder))]
  const states = await readStates(holders, connections, bounds)
  return heads.flatMap((each) => {
    const { holder, bytes: _, ...head } = each
    const own = states.get(holder)
    // gone meanwhile
    return own ? [{ ...head, ...own }] : []
  })
}

const SIZE = 'coalesce(octet_length(before), 0) + coalesce(octet_length(after), 0)'
/** The server knows how long a text is without reading it. */
const HEAD = `seq, id, entity, hook, operation, document, at, details, holder, ${SIZE}`

export async function readHeads(
  { after, upTo }: EventRange,
  connections: Connections,
  bounds: Bounds,
): Promise<readonly EventHead[]> {
  const text = `select ${HEAD} from smalt_outbox where seq > $1 and seq <= $2 order by seq`
  const rows = await connections.query({ text, values: [after, upTo] }, bounds)
  return await withHolders(rows, connections, bounds)
}

/** An event that shares the documents of another one has none of its own, and its number is a little higher. */
async function withHolders(
  rows: readonly Row[],
  connections: Connections,
  bounds: Bounds,
): Promise<readonly EventHead[]> {
  const known = new Map<string, Pick<EventHead, 'seq' | 'bytes'>>()
  const know = ([seq, id, bytes]: Row): void => {
    known.set(id!, { seq: Number(seq), bytes: Number(bytes) })
  }
  for (const row of rows) if (!row[8]) know([row[0]!, row[1]!, row[9]!])
  if (rows.some(([, , , , , , , , holder]) => holder && !known.has(holder))) {
    const first = Number(rows[0]![0])
    const text = `select seq, id, ${SIZE} from smalt_outbox where seq > $1 and seq < $2 order by seq`
    for (const row of await connections.query({ text, values: [first - MAX_SHARING, first] }, bounds))
      know(row)
  }
  return rows.flatMap((row) => {
    const held = known.get(row[8] ?? row[1]!)
    // the one that holds the documents went meanwhile, and so will this one
    return held ? [{ ...headFrom(row), holder: held.seq, bytes: held.bytes }] : []
  })
}

export async function readStates(
  holders: readonly number[],
  connections: Connections,
  bounds: Bounds,
): Promise<ReadonlyMap<number, EventStates>> {
  if (holders.length === 0) return new Map()
  const text = 'select seq, before, after from smalt_outbox where seq = any($1::bigint[]) order by seq'
  const rows = await connections.query({ text, values: [arrayText(holders.map(String))] }, bounds)
  return new Map(
    rows.map(([seq, before, after]) => [Number(seq), { before: before ?? null, after: after ?? null }]),
  )
}

/** As the rows are, so that what is shared is read once; in pages that fit into memory. */
export async function readArchived(
  since: number,
  limit: number,
  { connections, bounds }: { readonly connections: Connections; readonly bounds: Bounds },
): Promise<readonly ArchivedEvent[]> {
  const text = `select ${HEAD} from smalt_outbox where seq > $1 order by seq limit $2`
  const rows = await connections.query({ text, values: [since, limit] }, bounds)
  const heads = await withHolders(rows, connections, bounds)
  const own = heads.filter(({ seq, holder }) => seq === holder)
  const { chosen } = chosenFrom(own, { since, limit, filter: {} })
  const end = chosen.length < own.length ? chosen.at(-1)!.seq : Infinity
  const states = await readStates(
    chosen.map(({ seq }) => seq),
    connections,
    bounds,
  )
  const ids = new Map(rows.map(([seq, id, , , , , , , holder]) => [Number(seq), holder ?? id!]))
  return heads
    .filter(({ seq }) => seq <= end)
    .map((each): ArchivedEvent => {
      const { holder, bytes: _, ...head } = each
      if (holder === head.seq) return { ...head, ...states.get(holder)! }
      return { ...head, before: null, after: null, holder: { seq: holder, id: ids.get(head.seq)! } }
    })
}

function headFrom(row: Row): Omit<StoredEvent, 'before' | 'after'> {
  const [seq, id, entity, hook, operation, document, at, details] = row
  return {
    seq: Number(seq),
    id: id!,
    entity: entity!,
    hook: hook!,
    operation: operation as Action,
    document: document!,
    at: Number(at),
    details: details!,
  }
}

/** Numbers that a crash has lost are not numbers of events that went: the oldest that is kept tells nothing of those. */
export async function eventBounds(
  session: Session,
): Promise<{ readonly first: number; readonly last: number }> {
  const { published, trimmed } = await readEventState(session)
  return { first: trimmed + 1, last: published }
}

/** The oldest go first, a few at a time; what is not published yet stays. */
export async function trimEvents(limits: EventLimits, session: Session): Promise<number> {
  const { published } = await readEventState(session)
  const until = Math.min(limits.notAfter, published)
  const maxKept = published - limits.keepCount
  for (let gone = 0; ;) {
    const text = `select seq, at, coalesce(holder, id) from smalt_outbox
      where seq is not null order by seq limit $1`
    const oldest = await session.query({ text, values: [SLICE + 1] })
    const stays = oldest.findIndex(
      ([seq, at]) => Number(seq) > until || (Number(at) >= limits.keptSince && Number(seq) > maxKept),
    )
    const most = stays < 0 ? oldest.length : stays
    const going = removable(
      oldest.map(([, , holder]) => holder!),
      Math.min(most, SLICE),
    )
    if (going > 0) {
      const last = oldest[going - 1]![0]!
      // Told before they go: whoever reads meanwhile must not take what is missing for all there is.
      const text = 'update smalt_event_state set trimmed = $1 where one = 1 and trimmed < $1'
      await session.query({ text, values: [last] })
      await session.query({ text: 'delete from smalt_outbox where seq <= $1', values: [last] })
    }
    gone += going
    if (going === 0 || most <= SLICE) return gone
  }
}

const SLICE = 1_000

/** Calls back when work that told of something has ended, however it has. */
export async function notifyAfterCapture<T>(
  onCaptured: () => void,
  work: (capturing: <P extends WritePlan>(plan: P) => P) => Promise<T>,
): Promise<T> {
  let hasCaptured = false
  try {
    return await work((plan) => {
      const { captureChange } = plan
      if (!captureChange) return plan
      return {
        ...plan,
        captureChange: (change) => {
          const outboxEntries = captureChange(change)
          hasCaptured ||= outboxEntries.length > 0
          return outboxEntries
        },
      }
    })
  } finally {
    if (hasCaptured) onCaptured()
  }
}

/** The same for what is written in a session. */
export function capturing(session: StoreSession, note: <P extends WritePlan>(plan: P) => P): StoreSession {
  return { ...session, write: (plan, begin, bounds) => session.write(note(plan), begin, bounds) }
}
