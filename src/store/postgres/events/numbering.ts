/**
 * Gives committed outbox entries their sequence numbers, under a lock that one process holds at a time. Numbers are given
 * after the commit, because transactions commit in another order than they begin: with a number given inside the
 * transaction, a reader that has read up to 7 could miss 5, committed later.
 *
 * It takes three steps, each committed by itself: `reserved` is raised, entries get their numbers, `published` is raised.
 * Readers see numbers up to `published` only. A process that dies in between leaves `published` below `reserved`, and
 * the next holder of the lock recovers; numbers are never reused, so that gaps are possible and repetitions are not.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { arrayText } from '../../sql/postgres-dialect.ts'
import { tryLock, unlock } from '../connection/advisory-locks.ts'
import type { SqlSession } from '../connection/connection.ts'
import type { Row } from '../connection/connections.ts'
import {
  type ChangeRow,
  type ReachedVersions,
  documentKey,
  orderChanges,
  unclearDocuments,
} from './commit-order.ts'
import { readEventState } from './event-numbers.ts'

/** All processes listen on it; a notification is sent when more events can be read. */
const EVENT_CHANNEL = 'smalt_events'

const BATCH = 1_000

/** After these the lock is released, so that one process does not number for all others without end. */
const MAX_BATCHES = 20

export interface Numbered {
  readonly count: number
  /** Whether there are more events without a number. */
  readonly hasMore: boolean
}

/** Undefined when another process holds the lock. */
export async function numberUnder(session: SqlSession, lock: string): Promise<Numbered | undefined> {
  // Sent in one round trip, but the server runs them in order, each with a snapshot of its own: both reads happen after
  // the lock was taken, and see everything that its last holder committed.
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

async function numberAll(session: SqlSession, first: readonly Row[]): Promise<Numbered> {
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
 * A process reserved numbers and died before it published them; some entries may have theirs. On a cluster its update may
 * still be in doubt on one node (prepared, not yet committed): its entries look as if they had no number, and their rows
 * are locked. Numbering every entry without a number waits for those locks, and thereby for the decision. Numbers that
 * no entry has after that will never be used, and `published` can be raised over them.
 */
async function recover(session: SqlSession): Promise<Numbered> {
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
  // One more, so that readers are woken for numbers that the dead process gave.
  return { count: count + 1, hasMore: false }
}

interface Unnumbered extends ChangeRow {
  readonly id: string
}

const COLUMNS = 'doc, id, entity, seen, version, at'

/**
 * Events that share documents are numbered together, behind the one that stores the documents, since they are
 * removed together. Ids of one change ascend in the order of its hooks.
 */
const ORDER = 'at, doc, coalesce(holder, id), holder is not null, id'

function oldestUnnumbered(session: SqlSession): Promise<readonly Row[]> {
  const text = `select ${COLUMNS} from smalt_outbox where seq is null order by ${ORDER} limit $1`
  return session.query({ text, values: [BATCH] })
}

function unnumberedAfter(session: SqlSession, last: string | undefined): Promise<readonly Row[]> {
  const from = `select ${COLUMNS} from smalt_outbox where seq is null`
  return session.query(
    last === undefined
      ? { text: `${from} order by doc, ${ORDER} limit $1`, values: [BATCH] }
      : { text: `${from} and doc > $2 order by doc, ${ORDER} limit $1`, values: [BATCH, last] },
  )
}

/**
 * Adds all unnumbered entries of the same documents, because the order within a document cannot be found from
 * a part of them.
 */
async function withOthersOf(session: SqlSession, rows: readonly Row[]): Promise<readonly Unnumbered[]> {
  // With fewer rows than the limit, there are no others.
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

/** Returns the last number given. */
async function number(session: SqlSession, batch: readonly Unnumbered[]): Promise<number> {
  const last = await reserve(session, batch.length)
  const first = last - batch.length
  const reached = await reachedVersions(session, unclearDocuments(batch), first)
  const rows = orderChanges(batch, reached).map(({ doc, id }, i) => ({ doc, id, seq: String(first + i + 1) }))
  // Row locks in the same order everywhere, so that two statements never wait for each other.
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

/**
 * Reads only recent events, so that a document with a million of them delays no others: an insert waits no longer than its
 * time limit, so what was numbered meanwhile is recent. A deleted document has reached no version.
 */
async function reachedVersions(
  session: SqlSession,
  docs: readonly string[],
  lastNumber: number,
): Promise<ReachedVersions> {
  const reached = new Map<string, number>()
  if (docs.length === 0) return reached
  const text = `select doc, entity, version from smalt_outbox where seq > $1 and doc = any($2::text[])
    order by seq`
  for (const row of await session.query({ text, values: [lastNumber - RECENT, arrayText(docs)] })) {
    const [doc, entity, version] = row
    const key = documentKey({ entity: entity!, doc: doc! })
    if (typeof version === 'string') reached.set(key, Number(version))
    else reached.delete(key)
  }
  return reached
}

const RECENT = 10_000

/** Committed before any number is used, so that no number is given twice, even if this process dies. */
async function reserve(session: SqlSession, count: number): Promise<number> {
  const text = 'update smalt_event_state set reserved = reserved + $1 where one = 1 returning reserved'
  const [row] = await session.query({ text, values: [count] })
  return Number(row![0])
}

interface Range {
  readonly first: number
  readonly last: number
  readonly count: number
}

/**
 * On a cluster, a committed update becomes visible on one node before another. Publishing before all numbers are visible
 * would let a reader pass an entry that appears behind it.
 */
async function untilSeen(session: SqlSession, { first, last, count }: Range): Promise<void> {
  for (const deadline = performance.now() + WAIT_MS; performance.now() < deadline; await pause(50)) {
    if ((await countSeen(session, first, last)) === count) return
  }
  throw new Error('events that were numbered do not come to light')
}

async function countSeen(session: SqlSession, first: number, last: number): Promise<number> {
  const text = 'select count(*) from smalt_outbox where seq > $1 and seq <= $2'
  const [row] = await session.query({ text, values: [first, last] })
  return Number(row![0])
}

const WAIT_MS = 10_000

async function publish(session: SqlSession, last: number): Promise<void> {
  const text = 'update smalt_event_state set published = $1 where one = 1 and published < $1'
  const publishing = session.query({ text, values: [last] })
  const notifying = session.query({ text: 'select pg_notify($1, current_schema())', values: [EVENT_CHANNEL] })
  await Promise.all([publishing, notifying])
}

/** Keys have the collation "C", which compares bytes; JavaScript would compare UTF-16 units. */
function comesAfter(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) > 0
}
