/** Gives events their numbers, while nobody else does. A number is published when all events below it are final. */
import { setTimeout as pause } from 'node:timers/promises'
import { arrayText } from '../../sql/postgres-dialect.ts'
import { tryLock, unlock } from '../connection/advisory-locks.ts'
import type { Row, Session } from '../connection/connections.ts'
import { type ChangeRow, orderChanges } from './commit-order.ts'
import { readEventState } from './event-numbers.ts'

/** Heard by all processes when more events can be read. */
const EVENT_CHANNEL = 'smalt_events'

const BATCH = 1_000
/** Then others may go on. */
const MAX_BATCHES = 20

export interface Numbered {
  readonly count: number
  /** Whether there are others that have no number yet. */
  readonly hasMore: boolean
}

/** Undefined when another process is at it. */
export async function numberUnder(session: Session, lock: string): Promise<Numbered | undefined> {
  // Sent together they are still carried out one after the other: what is read is read when the lock is ours.
  const [isOurs, state, first] = await Promise.all([
    tryLock(session, lock),
    readEventState(session),
    oldestUnnumbered(session),
  ])
  if (!isOurs) return undefined
  const isUnfinished = state.published < state.reserved
  const numbered = isUnfinished ? await recover(session) : await numberAll(session, first)
  await unlock(session, lock)
  return numbered
}

async function numberAll(session: Session, first: readonly Row[]): Promise<Numbered> {
  let rows = first
  let count = 0
  for (let batches = 0; rows.length > 0 && batches < MAX_BATCHES; batches++) {
    const batch = await withOthersOf(session, rows)
    await publish(session, await number(session, batch))
    count += batch.length
    rows = rows.length < BATCH ? [] : await oldestUnnumbered(session)
  }
  return { count, hasMore: rows.length > 0 }
}

/**
 * Somebody took numbers and ended before publishing them. On a cluster such a change may still be undecided on a node:
 * there its events seem to have no number, and are locked. So every event without one is numbered before anything is
 * published, which waits for such a decision and accepts it. Numbers that nobody has by then, nobody will ever have.
 */
async function recover(session: Session): Promise<Numbered> {
  let count = 0
  for (let last: string | undefined; ;) {
    const rows = await unnumberedAfter(session, last)
    if (rows.length === 0) break
    const batch = await withOthersOf(session, rows)
    await number(session, batch)
    count += batch.length
    last = batch.reduce((greatest, { doc }) => (comesAfter(doc, greatest) ? doc : greatest), last ?? '')
  }
  await publish(session, (await readEventState(session)).reserved)
  // numbers that others gave can be read now too
  return { count: count + 1, hasMore: false }
}

interface Unnumbered extends ChangeRow {
  readonly id: string
}

const COLUMNS = 'doc, id, entity, seen, version, at'

/** Events that share documents stay together, since they are removed together, behind the one that holds them. */
const ORDER = 'at, doc, coalesce(holder, id), holder is not null, hook'

function oldestUnnumbered(session: Session): Promise<readonly Row[]> {
  const text = `select ${COLUMNS} from smalt_outbox where seq is null order by ${ORDER} limit $1`
  return session.query({ text, values: [BATCH] })
}

function unnumberedAfter(session: Session, last: string | undefined): Promise<readonly Row[]> {
  const from = `select ${COLUMNS} from smalt_outbox where seq is null`
  return session.query(
    last === undefined
      ? { text: `${from} order by doc limit $1`, values: [BATCH] }
      : { text: `${from} and doc > $2 order by doc limit $1`, values: [BATCH, last] },
  )
}

/** With each event all others of its document, so that these can be put in order. */
async function withOthersOf(session: Session, rows: readonly Row[]): Promise<readonly Unnumbered[]> {
  // fewer than were asked for are all there are
  if (rows.length < BATCH) return rows.map(unnumberedFrom)
  const text = `select ${COLUMNS} from smalt_outbox where seq is null and doc = any($1::text[])
    order by ${ORDER}`
  const keys = new Set(rows.map(([doc]) => doc!))
  return (await session.query({ text, values: [arrayText([...keys])] })).map(unnumberedFrom)
}

function unnumberedFrom([doc, id, entity, seen, version, at]: Row): Unnumbered {
  return {
    doc: doc!,
    id: id!,
    entity: entity!,
    seen: typeof seen === 'string' ? Number(seen) : undefined,
    version: typeof version === 'string' ? Number(version) : undefined,
    at: Number(at),
  }
}

/** Gives the last number. */
async function number(session: Session, batch: readonly Unnumbered[]): Promise<number> {
  const last = await reserve(session, batch.length)
  const first = last - batch.length
  const rows = orderChanges(batch).map(({ doc, id }, i) => ({ doc, id, seq: String(first + i + 1) }))
  // everybody takes locks in the same order
  rows.sort((a, b) => (a.doc === b.doc ? (a.id < b.id ? -1 : 1) : a.doc < b.doc ? -1 : 1))
  const text = `update smalt_outbox as stored set seq = new.seq
    from unnest($1::text[], $2::text[], $3::bigint[]) as new(doc, id, seq)
    where stored.doc = new.doc and stored.id = new.id and stored.seq is null returning stored.id`
  const columns = [rows.map(({ doc }) => doc), rows.map(({ id }) => id), rows.map(({ seq }) => seq)]
  const numbering = session.query({ text, values: columns.map(arrayText) })
  const [numbered, seen] = await Promise.all([numbering, countSeen(session, first, last)])
  if (seen < numbered.length) await untilSeen(session, { first, last, count: numbered.length })
  return last
}

/** Numbers are never given again, whatever becomes of those who took them. */
async function reserve(session: Session, count: number): Promise<number> {
  const text = 'update smalt_event_state set reserved = reserved + $1 where one = 1 returning reserved'
  const [row] = await session.query({ text, values: [count] })
  return Number(row![0])
}

interface Range {
  readonly first: number
  readonly last: number
  readonly count: number
}

/** On a cluster a change that is committed may come to light on one of its nodes a little later. */
async function untilSeen(session: Session, { first, last, count }: Range): Promise<void> {
  for (const deadline = performance.now() + WAIT_MS; performance.now() < deadline; await pause(50)) {
    if ((await countSeen(session, first, last)) === count) return
  }
  throw new Error('events that were numbered do not come to light')
}

async function countSeen(session: Session, first: number, last: number): Promise<number> {
  const text = 'select count(*) from smalt_outbox where seq > $1 and seq <= $2'
  const [row] = await session.query({ text, values: [first, last] })
  return Number(row![0])
}

const WAIT_MS = 10_000

async function publish(session: Session, last: number): Promise<void> {
  const text = 'update smalt_event_state set published = $1 where one = 1 and published < $1'
  const publishing = session.query({ text, values: [last] })
  const notifying = session.query({ text: 'select pg_notify($1, current_schema())', values: [EVENT_CHANNEL] })
  await Promise.all([publishing, notifying])
}

/** As the database sorts keys: by code points. */
function comesAfter(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) > 0
}
