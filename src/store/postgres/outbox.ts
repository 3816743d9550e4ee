/** Watched changes as readers find them: those that have their number for good, up to the one that was published. */
import type { WritePlan } from '../../plan/plan.ts'
import { EVENT_CHARACTERS, isWanted, windowOf } from '../event-window.ts'
import type { Action, EventLimits, EventsRequest, KeptEvent, KeptEvents } from '../events.ts'
import { arrayText } from '../sql/postgres-dialect.ts'
import type { Bounds, StoreSession } from '../store.ts'
import type { Connections, Row, Session } from './connections.ts'

/** Numbers that were ever taken, those up to which every event can be read, and those up to which none is kept. */
export interface EventState {
  readonly reserved: number
  readonly published: number
  readonly trimmed: number
}

export async function readEventState(session: Session): Promise<EventState> {
  const text = 'select reserved, published, trimmed from smalt_event_state where one = 1'
  const [row] = await session.ask({ text, values: [] })
  return { reserved: Number(row![0]), published: Number(row![1]), trimmed: Number(row![2]) }
}

export async function readEvents(
  request: EventsRequest,
  connections: Connections,
  bounds: Bounds,
): Promise<KeptEvents> {
  const { since, limit } = request
  const { published } = await readEventState(connections.quick)
  if (since >= published) return { events: [], scannedTo: since }
  const text = `select seq, entity, hook, operation, octet_length(before), octet_length(after) from smalt_outbox
    where seq > $1 and seq <= $2 order by seq limit $3`
  const window = windowOf(request)
  const heads = await connections.ask({ text, values: [since, published, window] }, bounds)
  const { chosen, isCut } = chosenFrom(heads, request)
  const events = chosen.length === 0 ? [] : await eventsOf(chosen, connections, bounds)
  if (isCut || chosen.length === limit) return { events, scannedTo: Number(chosen.at(-1)) }
  return { events, scannedTo: heads.length < window ? published : Number(heads.at(-1)![0]) }
}

/** How large events are is asked first, so that what is fetched fits into memory. */
function chosenFrom(heads: readonly Row[], { limit, filter }: EventsRequest) {
  const chosen: string[] = []
  let size = 0
  for (const [seq, entity, hook, operation, before, after] of heads) {
    if (!isWanted(filter, { entity: entity!, hook: hook!, operation: operation as Action })) continue
    chosen.push(seq!)
    size += Number(before ?? 0) + Number(after ?? 0)
    if (chosen.length === limit || size > EVENT_CHARACTERS) return { chosen, isCut: true }
  }
  return { chosen, isCut: false }
}

async function eventsOf(
  numbers: readonly string[],
  connections: Connections,
  bounds: Bounds,
): Promise<readonly KeptEvent[]> {
  const text = `select seq, id, entity, hook, operation, document, at, details, before, after from smalt_outbox
    where seq = any($1::bigint[]) order by seq`
  return (await connections.ask({ text, values: [arrayText(numbers)] }, bounds)).map(eventFrom)
}

function eventFrom(row: Row): KeptEvent {
  const [seq, id, entity, hook, operation, document, at, details, before, after] = row
  return {
    seq: Number(seq),
    id: id!,
    entity: entity!,
    hook: hook!,
    operation: operation as Action,
    document: document!,
    at: Number(at),
    details: details!,
    before: before ?? null,
    after: after ?? null,
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
  const mostKept = published - limits.keepCount
  for (let gone = 0; ;) {
    const text = 'select seq, at from smalt_outbox where seq <= $1 order by seq limit $2'
    const oldest = await session.ask({ text, values: [until, SLICE] })
    const stays = oldest.findIndex(([seq, at]) => Number(at) >= limits.keptSince && Number(seq) > mostKept)
    const going = stays < 0 ? oldest : oldest.slice(0, stays)
    if (going.length > 0) {
      const last = going.at(-1)![0]!
      // Told before they go: whoever reads meanwhile must not take what is missing for all there is.
      const text = 'update smalt_event_state set trimmed = $1 where one = 1 and trimmed < $1'
      await session.ask({ text, values: [last] })
      await session.ask({ text: 'delete from smalt_outbox where seq <= $1', values: [last] })
    }
    gone += going.length
    if (going.length < SLICE) return gone
  }
}

const SLICE = 1_000

/** Calls back when work that told of something has ended, however it has. */
export async function noticing<T>(
  onTold: () => void,
  work: (noted: <P extends WritePlan>(plan: P) => P) => Promise<T>,
): Promise<T> {
  let hasTold = false
  try {
    return await work((plan) => {
      const { tell } = plan
      if (!tell) return plan
      return {
        ...plan,
        tell: (change) => {
          const notices = tell(change)
          hasTold ||= notices.length > 0
          return notices
        },
      }
    })
  } finally {
    if (hasTold) onTold()
  }
}

/** The same for what is written in a session. */
export function noted(session: StoreSession, note: <P extends WritePlan>(plan: P) => P): StoreSession {
  return { ...session, write: (plan, begin, bounds) => session.write(note(plan), begin, bounds) }
}
