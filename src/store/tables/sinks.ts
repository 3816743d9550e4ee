/** Sinks as rows, and their undelivered events as rows beside them. On a cluster both tables are on the coordinator. */
import type { Engine, Row, Rows } from '../engine.ts'
import type {
  DeadHead,
  DeadLetter,
  DeadPage,
  HeldSink,
  Holder,
  NewItem,
  ReadSink,
  SinkHold,
  SinkItem,
  SinkRecord,
  SinkResults,
  SinkStore,
} from '../sinks.ts'
import { literals } from '../sql/comparands.ts'
import { type Fragment, param, raw, sql } from '../sql/fragment.ts'

/** Every change of items first updates the row of the sink, which serializes concurrent changes. */
export function createSinks(engine: Engine): SinkStore {
  const { run, dialect } = engine
  const read = (statement: Fragment): Promise<Rows> => run('sink', () => engine.query(statement))
  const write = (...statements: readonly Fragment[]): Promise<Rows> =>
    run('sink', async () => (await engine.batch(statements))[0]!)
  const leased = (wanted: SinkHold, { mayTake }: { readonly mayTake: boolean }) =>
    run('sink', async () => (await stillHeld(engine, wanted)) ?? (await lease(engine, wanted, { mayTake })))
  return {
    create: async (sink) => (await write(insertSink(sink))).length === 1,
    replace: async (old, definition) => (await write(replaceDefinition(old, definition))).length === 1,
    remove: async (name) => (await write(deleteSink(name), deleteItems(name))).length === 1,
    read: async (name) => (await read(sql`${RECORDS} where sink = ${param(name)}`)).map(recordFrom)[0],
    list: async () => (await read(sql`${RECORDS} order by sink`)).map(recordFrom),
    hold: (wanted) => leased(wanted, { mayTake: true }),
    renew: (wanted) => leased(wanted, { mayTake: false }),
    release: async ({ name, owner }) =>
      void (await write(
        sql`update smalt_sink set ${FREE} where sink = ${param(name)} and owner = ${param(owner)}`,
      )),
    recordResults: (holder, results) =>
      run('sink', async () => {
        const statements = resultStatements(engine, holder, results)
        return (await engine.batch(statements, { undoUnless: 0 })) !== undefined
      }),
    readItems: async (name) =>
      (
        await read(sql`select ${ITEM_COLUMNS} from smalt_sink_item where sink = ${param(name)} order by seq`)
      ).map(itemFrom),
    readItemEvents: async (name, seqs) => {
      const isIn = dialect.isIn(raw('seq'), literals(seqs), 'integer')
      const rows = await read(
        sql`select seq, event from smalt_sink_item where sink = ${param(name)} and ${isIn} order by seq`,
      )
      return new Map(rows.map(([seq, event]) => [Number(seq), String(event)]))
    },
    measureDead: async (name, letters) => {
      const sizes = sql`select octet_length(event) as bytes from smalt_sink_item
        where ${isDead(name)} and ${'id' in letters ? sql`id = ${param(letters.id)}` : pageOf(letters)}`
      const [row] = await read(sql`select sum(bytes) from (${sizes}) as sizes`)
      return Number(row?.[0] ?? 0)
    },
    listDead: async (name, page) =>
      (await read(sql`${deadOf(name, BEGIN)} and ${pageOf(page)}`)).map(headFrom),
    readDead: async (name, eventId) =>
      (await read(sql`${deadOf(name, EVENT)} and id = ${param(eventId)} order by seq`)).map(deadFrom)[0],
    redrive: (name, eventId) => changeDead(engine, name, redriven(name, eventId)),
    discard: async (name, eventId) => (await changeDead(engine, name, discarded(name, eventId))) === 1,
  }
}

/** For an engine of one process: leases of an earlier process are stale at start. */
export function freeAllSinks(): Fragment {
  return sql`update smalt_sink set ${FREE} where owner <> ''`
}

const FREE = raw(`owner = '', owned_until = 0`)

const COLUMNS = raw('sink, definition, version, position, state, failures, retry_at')
const RECORDS = sql`select ${COLUMNS} from smalt_sink`
const ITEM_COLUMNS = raw('seq, doc, state, attempts, next_at, error, at')

function insertSink({ name, definition, position }: Parameters<SinkStore['create']>[0]): Fragment {
  return sql`insert into smalt_sink(${COLUMNS}, owner, owned_until)
    values (${param(name)}, ${param(definition)}, 1, ${param(position)}, 'active', 0, 0, '', 0)
    on conflict (sink) do nothing returning sink`
}

/** The version alone is not enough: a sink that was removed and created again begins with the same one. */
function replaceDefinition(old: ReadSink, definition: string): Fragment {
  const isAsRead = sql`version = ${param(old.version)} and definition = ${param(old.definition)}`
  return sql`update smalt_sink set definition = ${param(definition)}, version = version + 1, state = 'active',
    failures = 0, retry_at = 0 where sink = ${param(old.name)} and ${isAsRead} returning sink`
}

function deleteSink(name: string): Fragment {
  return sql`delete from smalt_sink where sink = ${param(name)} returning sink`
}

function deleteItems(name: string): Fragment {
  return sql`delete from smalt_sink_item where sink = ${param(name)}`
}

/** Without other processes, the lease is extended only after half of it has passed; that saves flushes. */
async function stillHeld(
  { isShared, query, now }: Engine,
  { name, owner, ttlMs }: SinkHold,
): Promise<HeldSink | undefined> {
  if (isShared) return undefined
  const [row] = await query(sql`select ${COLUMNS}, owned_until - ${now} from smalt_sink
    where sink = ${param(name)} and owner = ${param(owner)} and state = 'active'
    and owned_until > ${param(ttlMs / 2)} + ${now}`)
  return row && { ...recordFrom(row), heldMs: Number(row[7]) }
}

/** The statement reads the clock itself, so that an answer that arrives late shortens no lease and ends none of others. */
async function lease(
  { batch, now }: Engine,
  { name, owner, ttlMs }: SinkHold,
  { mayTake }: { readonly mayTake: boolean },
): Promise<HeldSink | undefined> {
  const isOwn = sql`owner = ${param(owner)}`
  const condition = mayTake ? sql`(${isOwn} or owned_until <= (select ${now}))` : isOwn
  const statement = sql`update smalt_sink set owner = ${param(owner)}, owned_until = ${param(ttlMs)} + ${now}
    where sink = ${param(name)} and state = 'active' and ${condition} returning ${COLUMNS}`
  const [[row] = []] = await batch([statement], { isUrgent: true })
  return row && { ...recordFrom(row), heldMs: ttlMs }
}

/**
 * The first statement returns a row only while the lease is the holder's; `undoUnless` depends on it. A receiver
 * that is gone disables only the definition that named it, not one that replaced it.
 */
function resultStatements(
  { dialect, now }: Pick<Engine, 'dialect' | 'now'>,
  { name, owner }: Holder,
  { version, progress, entered, changed, removed }: SinkResults,
): readonly Fragment[] {
  const { position, isDisabled, failures, retryAt } = progress
  const sink = sql`sink = ${param(name)}`
  const isHeld = sql`owner = ${param(owner)} and owned_until > ${now}`
  const [state, condition] = isDisabled
    ? [raw(`'disabled'`), sql`${isHeld} and version = ${param(version)}`]
    : [raw(`'active'`), isHeld]
  return [
    sql`update smalt_sink set position = ${param(position)}, state = ${state},
      failures = ${param(failures)}, retry_at = ${param(retryAt)}
      where ${sink} and ${condition} returning sink`,
    ...(removed.length > 0
      ? [
          sql`delete from smalt_sink_item where ${sink} and ${dialect.isIn(raw('seq'), literals(removed), 'integer')}`,
        ]
      : []),
    ...changed.map(
      ({ seq, state, attempts, nextAt, error }) =>
        sql`update smalt_sink_item set state = ${param(state)}, attempts = ${param(attempts)},
          next_at = ${param(nextAt)}, error = ${param(error)} where ${sink} and seq = ${param(seq)}`,
    ),
    ...entered.map((item) => insertItem(name, item)),
  ]
}

function insertItem(
  name: string,
  { seq, id, doc, state, attempts, nextAt, error, at, event }: NewItem,
): Fragment {
  return sql`insert into smalt_sink_item(sink, id, event, ${ITEM_COLUMNS})
    values (${param(name)}, ${param(id)}, ${param(event)}, ${param(seq)}, ${param(doc)}, ${param(state)},
      ${param(attempts)}, ${param(nextAt)}, ${param(error)}, ${param(at)})`
}

function deadOf(name: string, event: Fragment): Fragment {
  const held = sql`(select count(*) from smalt_sink_item as later
    where later.sink = ${param(name)} and later.doc = dead.doc and later.seq > dead.seq)`
  return sql`select ${ITEM_COLUMNS}, id, ${event}, ${held} from smalt_sink_item as dead where ${isDead(name)}`
}

const EVENT = raw('event')
/** Enough for the members before the document, unless a name is very long. */
const BEGIN = raw('substr(event, 1, 2000)')

function pageOf({ since, limit }: DeadPage): Fragment {
  return sql`seq > ${param(since)} order by seq limit ${param(limit)}`
}

function redriven(name: string, eventId: string | undefined): Fragment {
  return sql`update smalt_sink_item set state = 'waiting', attempts = 0, next_at = 0 where ${isDead(name, eventId)}
    returning seq`
}

function discarded(name: string, eventId: string): Fragment {
  return sql`delete from smalt_sink_item where ${isDead(name, eventId)} returning seq`
}

function isDead(name: string, eventId?: string): Fragment {
  const all = sql`sink = ${param(name)} and state = 'dead'`
  return eventId === undefined ? all : sql`${all} and id = ${param(eventId)}`
}

/** The new version makes the delivering process read its items again. */
async function changeDead({ run, batch }: Engine, name: string, change: Fragment): Promise<number> {
  const raised = sql`update smalt_sink set version = version + 1 where sink = ${param(name)}`
  const results = await run('sink', () => batch([raised, change], { undoUnless: 1 }))
  return results?.[1]!.length ?? 0
}

function recordFrom([name, definition, version, position, state, failures, retryAt]: Row): SinkRecord {
  return {
    name: String(name),
    definition: String(definition),
    version: Number(version),
    progress: {
      position: Number(position),
      isDisabled: state === 'disabled',
      failures: Number(failures),
      retryAt: Number(retryAt),
    },
  }
}

function itemFrom([seq, doc, state, attempts, nextAt, error, at]: Row): SinkItem {
  return {
    seq: Number(seq),
    doc: String(doc),
    state: state as SinkItem['state'],
    attempts: Number(attempts),
    nextAt: Number(nextAt),
    error: String(error),
    at: Number(at),
  }
}

function headFrom(row: Row): DeadHead {
  const [id, begin, held] = row.slice(7)
  return { ...itemFrom(row), id: String(id), begin: String(begin), held: Number(held) }
}

function deadFrom(row: Row): DeadLetter {
  const [id, event, held] = row.slice(7)
  return { ...itemFrom(row), id: String(id), event: String(event), held: Number(held) }
}
