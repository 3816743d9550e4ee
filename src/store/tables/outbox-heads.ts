/** Events without their documents, which may be large, and where those documents are stored. */
import type { Bounds } from '../bounds.ts'
import type { Engine, Row, Rows } from '../engine.ts'
import { type Action, type EventHead, MAX_SHARING } from '../events.ts'
import { type Fragment, param, raw, sql } from '../sql/fragment.ts'

/** The outbox table of an engine. SQLite numbers events when it inserts them, PostgreSQL after they are committed. */
export interface OutboxTable {
  readonly name: Fragment
  /** The column by which events of one change refer to the event that stores their documents. */
  readonly holderKey: 'id' | 'seq'
  /** The columns with `_id` as text. */
  readonly documentColumns: readonly string[]
  /**
   * Returns the numbers of the oldest stored event, null when there is none, and of the newest readable one.
   */
  readonly bounds: Fragment
  /**
   * Records these numbers where the engine cannot derive them. The first one is recorded before older events
   * are deleted, so that a reader can detect that it missed events; the last one after an import.
   */
  readonly setBounds: (bounds: Partial<EventBounds>) => readonly Fragment[]
  /** Resolves when every event has its number; only for a store that no other process uses. */
  readonly untilNumbered: () => Promise<void>
}

interface EventBounds {
  readonly first: number
  readonly last: number
}

export async function boundsOf({ query }: Engine, { bounds }: OutboxTable): Promise<EventBounds> {
  const [row] = await query(bounds, { isUrgent: true })
  const last = Number(row![1] ?? 0)
  return { first: Number(row![0] ?? last + 1), last }
}

export interface OutboxReading {
  readonly engine: Engine
  readonly table: OutboxTable
  readonly bounds: Bounds
}

interface PlacedHead {
  readonly head: EventHead
  /** The id of the event that stores the documents. */
  readonly holderId: string
}

/** Engines know the length of a stored text without reading it. */
const SIZE = raw('coalesce(octet_length(before), 0) + coalesce(octet_length(after), 0)')

/** The events that satisfy a condition; the condition ends with an `order by seq`. */
export async function headsIn(reading: OutboxReading, where: Fragment): Promise<readonly PlacedHead[]> {
  const { engine, table, bounds } = reading
  const columns = raw('seq, id, entity, hook, operation, document, at, details, holder')
  const rows = await engine.query(sql`select ${columns}, ${SIZE} from ${table.name} where ${where}`, {
    bounds,
  })
  const holders = await holdersOf(reading, rows)
  return rows.flatMap((row) => {
    const held = holders.get(String(row[8] ?? keyOf(row, table)))
    // The event with the documents was deleted concurrently; this one is about to be deleted, too.
    if (!held) return []
    return [{ head: { ...headFrom(row), holder: held.seq, bytes: held.bytes }, holderId: held.id }]
  })
}

interface HeldDocuments {
  readonly seq: number
  readonly id: string
  readonly bytes: number
}

/** Finds the documents of events that share those of another one, whose number is slightly lower. */
async function holdersOf(
  { engine, table, bounds }: OutboxReading,
  rows: Rows,
): Promise<ReadonlyMap<string, HeldDocuments>> {
  const known = new Map<string, HeldDocuments>()
  const add = (row: Row, bytes: unknown): void => {
    known.set(keyOf(row, table), { seq: Number(row[0]), id: String(row[1]), bytes: Number(bytes) })
  }
  for (const row of rows) if (row[8] === null) add(row, row[9])
  if (rows.some(([, , , , , , , , holder]) => holder !== null && !known.has(String(holder)))) {
    const first = Number(rows[0]![0])
    const before = await engine.query(
      sql`select seq, id, ${SIZE} from ${table.name}
        where seq > ${param(first - MAX_SHARING)} and seq < ${param(first)} order by seq`,
      { bounds },
    )
    for (const row of before) add(row, row[2])
  }
  return known
}

/** The key of a row that begins with `seq` and `id`. */
function keyOf([seq, id]: Row, { holderKey }: OutboxTable): string {
  return String(holderKey === 'id' ? id : seq)
}

function headFrom(row: Row): Omit<EventHead, 'holder' | 'bytes'> {
  const [seq, id, entity, hook, operation, document, at, details] = row
  return {
    seq: Number(seq),
    id: String(id),
    entity: String(entity),
    hook: String(hook),
    operation: operation as Action,
    document: String(document),
    at: Number(at),
    details: String(details),
  }
}
