/** Sinks as rows, and as rows what they have yet to get. All writes go by the writer: what is read in them still holds. */
import type { SqlValue } from '../sql/fragment.ts'
import type {
  DeadLetter,
  HeldSink,
  Holder,
  NewItem,
  SinkChanges,
  SinkHold,
  SinkItem,
  SinkRecord,
  SinkStore,
} from '../sinks.ts'
import type { Statements } from './read/reads.ts'
import type { Writer } from './write/writer.ts'

interface SinksOptions {
  readonly statements: Statements
  readonly writer: Pick<Writer, 'run'>
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

export function sinksIn({ statements, writer, now = Date.now }: SinksOptions): SinkStore {
  const rows = (text: string, ...values: readonly SqlValue[]): readonly Row[] =>
    statements.prepare(text).all(...values) as unknown as readonly Row[]
  const run = (text: string, ...values: readonly SqlValue[]): number =>
    Number(statements.prepare(text).run(...values).changes)
  const engine = { rows, run }
  // One process has the file at a time: whoever held a sink before is gone.
  run(FREE)
  return {
    create: ({ name, definition, position }) =>
      writer.run(() => run(CREATE, name, definition, position) === 1),
    replace: (name, definition) => writer.run(() => run(REPLACE, definition, name) === 1),
    remove: (name) =>
      writer.run(() => {
        run('delete from smalt_sink_item where sink = ?', name)
        return run('delete from smalt_sink where sink = ?', name) === 1
      }),
    read: async (name) => rows(`${RECORDS} where sink = ?`, name).map(recordFrom)[0],
    list: async () => rows(`${RECORDS} order by sink`).map(recordFrom),
    hold: async (hold) =>
      stillHeld(engine, hold, now()) ?? (await writer.run(() => take(engine, hold, now()))),
    release: ({ name, owner }) => writer.run(() => void run(RELEASE, name, owner)),
    recordResults: (holder, changes) =>
      writer.run(() => recordResults(engine, holder, { ...changes, now: now() })),
    readItems: async (name) => rows(`${ITEMS} where sink = ? order by seq`, name).map(itemFrom),
    readItemEvents: async (name, seqs) => {
      const found = rows(EVENTS, name, JSON.stringify(seqs)) as unknown as readonly [number, string][]
      return new Map(found)
    },
    listDead: async (name, { since, limit }) =>
      rows(`${DEAD} and seq > ? order by seq limit ? + 0`, name, since, limit).map(deadFrom),
    readDead: async (name, eventId) => rows(`${DEAD} and id = ?`, name, eventId).map(deadFrom)[0],
    redrive: (name, eventId) => writer.run(() => tend(engine, name, [REDRIVE, eventId])),
    discard: (name, eventId) => writer.run(() => tend(engine, name, [DISCARD, eventId]) === 1),
  }
}

interface Engine {
  readonly rows: (text: string, ...values: readonly SqlValue[]) => readonly Row[]
  /** Tells how many rows changed. */
  readonly run: (text: string, ...values: readonly SqlValue[]) => number
}

/** There is no need to write as long as half of it is left. */
function stillHeld({ rows }: Engine, { name, owner, ttlMs }: SinkHold, now: number): HeldSink | undefined {
  const [row] = rows(HELD, name, owner, now + ttlMs / 2)
  return row && { ...recordFrom(row), heldMs: (row[7] as number) - now }
}

function take({ rows }: Engine, { name, owner, ttlMs }: SinkHold, now: number): HeldSink | undefined {
  const [row] = rows(HOLD, owner, now + ttlMs, name, owner, now)
  return row && { ...recordFrom(row), heldMs: ttlMs }
}

function recordResults(
  { run }: Engine,
  { name, owner }: Holder,
  { progress, entered, changed, removed, now }: SinkChanges & { readonly now: number },
): boolean {
  const { position, isDisabled, failures, retryAt } = progress
  const state = isDisabled ? 'disabled' : 'active'
  if (run(SETTLE, position, state, failures, retryAt, name, owner, now) === 0) return false
  for (const seq of removed) run('delete from smalt_sink_item where sink = ? and seq = ?', name, seq)
  for (const { seq, state: itemState, attempts, nextAt, error } of changed) {
    run(CHANGE, itemState, attempts, nextAt, error, name, seq)
  }
  for (const item of entered) run(ENTER, name, ...newRow(item))
  return true
}

/** Whoever delivers sees by the version that somebody tended to what is dead. */
function tend(
  { run }: Engine,
  name: string,
  [change, eventId]: readonly [text: string, id: string | undefined],
): number {
  const count = eventId === undefined ? run(change, name) : run(`${change} and id = ?`, name, eventId)
  if (count > 0) run('update smalt_sink set version = version + 1 where sink = ?', name)
  return count
}

type Row = readonly (string | number)[]

function newRow({ seq, id, doc, state, attempts, nextAt, error, at, event }: NewItem): readonly SqlValue[] {
  return [seq, id, doc, state, attempts, nextAt, error, at, event]
}

function recordFrom(row: Row): SinkRecord {
  const [name, definition, version, position, state, failures, retryAt] = row as unknown as RecordRow
  const progress = { position, isDisabled: state === 'disabled', failures, retryAt }
  return { name, definition, version, progress }
}

type RecordRow = readonly [
  name: string,
  definition: string,
  version: number,
  position: number,
  state: string,
  failures: number,
  retryAt: number,
]

function itemFrom(row: Row): SinkItem {
  const [seq, doc, state, attempts, nextAt, error, at] = row as unknown as ItemRow
  return { seq, doc, state, attempts, nextAt, error, at }
}

function deadFrom(row: Row): DeadLetter {
  const [id, event, held] = row.slice(7) as unknown as readonly [string, string, number]
  return { ...itemFrom(row), id, event, held }
}

type ItemRow = readonly [
  seq: number,
  doc: string,
  state: SinkItem['state'],
  attempts: number,
  nextAt: number,
  error: string,
  at: number,
]

const COLUMNS = 'sink, definition, version, position, state, failures, retry_at'
const RECORDS = `select ${COLUMNS} from smalt_sink`
const CREATE = `insert into smalt_sink(sink, definition, version, position, state, failures, retry_at, owner, owned_until)
  values (?, ?, 1, ?, 'active', 0, 0, '', 0) on conflict (sink) do nothing`
const REPLACE = `update smalt_sink set definition = ?, version = version + 1, state = 'active', failures = 0, retry_at = 0
  where sink = ?`
const HELD = `select ${COLUMNS}, owned_until from smalt_sink
  where sink = ? and owner = ? and state = 'active' and owned_until > ?`
const HOLD = `update smalt_sink set owner = ?, owned_until = ?
  where sink = ? and state = 'active' and (owner = ? or owned_until <= ?) returning ${COLUMNS}`
const FREE = `update smalt_sink set owner = '', owned_until = 0 where owner <> ''`
const RELEASE = `update smalt_sink set owner = '', owned_until = 0 where sink = ? and owner = ?`
const SETTLE = `update smalt_sink set position = ?, state = ?, failures = ?, retry_at = ?
  where sink = ? and owner = ? and owned_until > ?`

const ITEM_COLUMNS = 'seq, doc, state, attempts, next_at, error, at'
const ITEMS = `select ${ITEM_COLUMNS} from smalt_sink_item`
const ENTER = `insert into smalt_sink_item(sink, seq, id, doc, state, attempts, next_at, error, at, event)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const CHANGE = `update smalt_sink_item set state = ?, attempts = ?, next_at = ?, error = ? where sink = ? and seq = ?`
const EVENTS = `select seq, event from smalt_sink_item
  where sink = ? and seq in (select value from json_each(?)) order by seq`
const BEHIND = `(select count(*) from smalt_sink_item as later
  where later.sink = dead.sink and later.doc = dead.doc and later.seq > dead.seq)`
const DEAD = `select ${ITEM_COLUMNS}, id, event, ${BEHIND} from smalt_sink_item as dead
  where sink = ? and state = 'dead'`
const REDRIVE = `update smalt_sink_item set state = 'waiting', attempts = 0, next_at = 0
  where sink = ? and state = 'dead'`
const DISCARD = `delete from smalt_sink_item where sink = ? and state = 'dead'`
