/** Sinks as rows, and as rows what they have yet to get, beside each other on one node; several processes share them. */
import type { SqlValue } from '../../sql/fragment.ts'
import type {
  DeadLetter,
  Holder,
  NewItem,
  SinkChanges,
  SinkItem,
  SinkRecord,
  SinkStore,
} from '../../sinks.ts'
import type { Connections, Row, Session } from '../connection/connections.ts'
import type { Runner } from '../runner.ts'
import { type Transaction, inTransaction } from '../connection/transaction.ts'

/** Everything that changes items begins with the row of their sink, so that those who do come one after the other. */
export function sinksOn(connections: Connections, run: Runner['run']): SinkStore {
  const clock = createClock(connections.quick)
  const asked = (text: string, ...values: readonly SqlValue[]): Promise<readonly Row[]> =>
    run('sink', () => connections.query({ text, values }))
  const together = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    run('sink', () => inTransaction(connections, work))
  return {
    create: async ({ name, definition, position }) =>
      (await asked(CREATE, name, definition, position)).length === 1,
    replace: async (name, definition) => (await asked(REPLACE, name, definition)).length === 1,
    remove: (name) => together((transaction) => remove(transaction, name)),
    read: async (name) => recordsFrom(await asked(`${RECORDS} where sink = $1`, name))[0],
    list: async () => recordsFrom(await asked(`${RECORDS} order by sink`)),
    hold: ({ name, owner, ttlMs }) =>
      run('sink', async () => {
        const now = await clock.read()
        const values = [name, owner, now + ttlMs, now]
        const [record] = recordsFrom(await connections.quick.query({ text: HOLD, values }))
        return record && { ...record, heldMs: ttlMs }
      }),
    release: async ({ name, owner }) => void (await asked(RELEASE, name, owner)),
    recordResults: (holder, changes) =>
      together(async (transaction) => {
        const isKept = await recordResults(transaction, holder, { ...changes, now: clock.now() })
        if (!isKept) transaction.undo()
        return isKept
      }),
    readItems: async (name) => (await asked(`${ITEMS} where sink = $1 order by seq`, name)).map(itemFrom),
    readItemEvents: async (name, seqs) =>
      new Map((await asked(EVENTS, name, arrayOf(seqs))).map(([seq, event]) => [Number(seq), event!])),
    listDead: async (name, { since, limit }) =>
      (await asked(`${DEAD} and seq > $2::bigint order by seq limit $3::int`, name, since, limit)).map(
        deadFrom,
      ),
    readDead: async (name, eventId) =>
      (await asked(`${DEAD} and id = $2 order by seq`, name, eventId)).map(deadFrom)[0],
    redrive: (name, eventId) => together((transaction) => tend(transaction, name, [REDRIVE, eventId])),
    discard: (name, eventId) =>
      together(async (transaction) => (await tend(transaction, name, [DISCARD, eventId])) === 1),
  }
}

interface Clock {
  /** The time of the server, asked. */
  read(): Promise<number>
  /** As it must be by now. */
  now(): number
}

/** Clocks of machines differ, so that who may deliver is decided by that of the database alone. */
function createClock(session: Session): Clock {
  let offset = Date.now() - performance.now()
  const now = (): number => Math.round(performance.now() + offset)
  return {
    async read() {
      const [row] = await session.query({ text: CLOCK, values: [] })
      offset = Number(row![0]) - performance.now()
      return now()
    },
    now,
  }
}

const CLOCK = 'select (extract(epoch from clock_timestamp()) * 1000)::bigint'

async function recordResults(
  transaction: Transaction,
  { name, owner }: Holder,
  { progress, entered, changed, removed, now }: SinkChanges & { readonly now: number },
): Promise<boolean> {
  const { position, isDisabled, failures, retryAt } = progress
  const state = isDisabled ? 'disabled' : 'active'
  const values = [name, owner, now, position, state, failures, retryAt]
  const kept = await transaction.query({ text: SETTLE, values })
  if (kept.length === 0) return false
  if (removed.length > 0) await transaction.query({ text: REMOVE, values: [name, arrayOf(removed)] })
  // Sent one after the other without waiting in between.
  await Promise.all([
    ...changed.map((item) => transaction.query({ text: CHANGE, values: [name, ...changedRow(item)] })),
    ...entered.map((item) => transaction.query({ text: ENTER, values: [name, ...newRow(item)] })),
  ])
  return true
}

async function remove(transaction: Transaction, name: string): Promise<boolean> {
  const gone = await transaction.query({
    text: 'delete from smalt_sink where sink = $1 returning sink',
    values: [name],
  })
  await transaction.query({ text: 'delete from smalt_sink_item where sink = $1', values: [name] })
  return gone.length === 1
}

/** Whoever delivers sees by the version that somebody tended to what is dead. */
async function tend(
  transaction: Transaction,
  name: string,
  [change, eventId]: readonly [text: string, id: string | undefined],
): Promise<number> {
  await transaction.query({ text: TEND, values: [name] })
  const statement =
    eventId === undefined
      ? { text: `${change} returning seq`, values: [name] }
      : { text: `${change} and id = $2 returning seq`, values: [name, eventId] }
  const tended = await transaction.query(statement)
  if (tended.length === 0) transaction.undo()
  return tended.length
}

/** Numbers as the text of an array. */
function arrayOf(numbers: readonly number[]): string {
  return `{${numbers.join(',')}}`
}

function changedRow({ seq, state, attempts, nextAt, error }: SinkItem): readonly SqlValue[] {
  return [seq, state, attempts, nextAt, error]
}

function newRow({ seq, id, doc, state, attempts, nextAt, error, at, event }: NewItem): readonly SqlValue[] {
  return [seq, id, doc, state, attempts, nextAt, error, at, event]
}

function recordsFrom(rows: readonly Row[]): readonly SinkRecord[] {
  return rows.map(([name, definition, version, position, state, failures, retryAt]) => ({
    name: name!,
    definition: definition!,
    version: Number(version),
    progress: {
      position: Number(position),
      isDisabled: state === 'disabled',
      failures: Number(failures),
      retryAt: Number(retryAt),
    },
  }))
}

function itemFrom([seq, doc, state, attempts, nextAt, error, at]: Row): SinkItem {
  return {
    seq: Number(seq),
    doc: doc!,
    state: state as SinkItem['state'],
    attempts: Number(attempts),
    nextAt: Number(nextAt),
    error: error!,
    at: Number(at),
  }
}

function deadFrom(row: Row): DeadLetter {
  const [id, event, held] = row.slice(7)
  return { ...itemFrom(row), id: id!, event: event!, held: Number(held) }
}

const COLUMNS = 'sink, definition, version, position, state, failures, retry_at'
const RECORDS = `select ${COLUMNS} from smalt_sink`
const CREATE = `insert into smalt_sink(sink, definition, version, position, state, failures, retry_at, owner, owned_until)
  values ($1, $2, 1, $3::bigint, 'active', 0, 0, '', 0) on conflict (sink) do nothing returning sink`
const REPLACE = `update smalt_sink set definition = $2, version = version + 1, state = 'active', failures = 0, retry_at = 0
  where sink = $1 returning sink`
const HOLD = `update smalt_sink set owner = $2, owned_until = $3::bigint
  where sink = $1 and state = 'active' and (owner = $2 or owned_until <= $4::bigint) returning ${COLUMNS}`
const RELEASE = `update smalt_sink set owner = '', owned_until = 0 where sink = $1 and owner = $2`
const SETTLE = `update smalt_sink set position = $4::bigint, state = $5, failures = $6::bigint, retry_at = $7::bigint
  where sink = $1 and owner = $2 and owned_until > $3::bigint returning sink`
const TEND = 'update smalt_sink set version = version + 1 where sink = $1'

const ITEM_COLUMNS = 'seq, doc, state, attempts, next_at, error, at'
const ITEMS = `select ${ITEM_COLUMNS} from smalt_sink_item`
const ENTER = `insert into smalt_sink_item(sink, seq, id, doc, state, attempts, next_at, error, at, event)
  values ($1, $2::bigint, $3, $4, $5, $6::bigint, $7::bigint, $8, $9::bigint, $10)`
const CHANGE = `update smalt_sink_item set state = $3, attempts = $4::bigint, next_at = $5::bigint, error = $6
  where sink = $1 and seq = $2::bigint`
const REMOVE = 'delete from smalt_sink_item where sink = $1 and seq = any($2::bigint[])'
const EVENTS =
  'select seq, event from smalt_sink_item where sink = $1 and seq = any($2::bigint[]) order by seq'
/** Both name the sink, so that both are looked for on the one node that has it. */
const HELD = `(select count(*) from smalt_sink_item as later
  where later.sink = $1 and later.doc = dead.doc and later.seq > dead.seq)`
const DEAD = `select ${ITEM_COLUMNS}, id, event, ${HELD} from smalt_sink_item as dead
  where sink = $1 and state = 'dead'`
const REDRIVE = `update smalt_sink_item set state = 'waiting', attempts = 0, next_at = 0
  where sink = $1 and state = 'dead'`
const DISCARD = `delete from smalt_sink_item where sink = $1 and state = 'dead'`
