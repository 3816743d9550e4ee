/** PostgreSQL as an engine for the bookkeeping in `store/tables`. */
import { createFairQueue } from '../../base/work/fair-queue.ts'
import type { Bounds } from '../bounds.ts'
import type { BatchOptions, Engine, QueryOptions, Rows, EngineSession, Topic } from '../engine.ts'
import { type Fragment, type Statement, param, raw, render, sql } from '../sql/fragment.ts'
import { POSTGRES } from '../sql/postgres-dialect.ts'
import type { SqlSession } from './connection/connection.ts'
import { type Connections, ORDINARY } from './connection/connections.ts'
import { acquire } from './connection/shares.ts'
import { WAIT_MS } from './connection/time-limit.ts'
import { type Transaction, inTransaction } from './connection/transaction.ts'

interface EngineOptions {
  readonly connections: Connections
  /** The PostgreSQL schema, sent as the payload of notifications to distinguish the stores of one database. */
  readonly schema: string
  readonly run: Engine['run']
  readonly listen: Engine['listen']
}

export function createPostgresEngine({ connections, schema, run, listen }: EngineOptions): Engine {
  const query = (fragment: Fragment, { bounds, isUrgent = false }: QueryOptions = {}): Promise<Rows> =>
    isUrgent
      ? connections.quick.query(statementOf(fragment), bounds)
      : connections.query(statementOf(fragment), bounds)

  const claims = createFairQueue(CLAIMS)

  async function claim({ query: ask }: EngineSession, name: string): Promise<void> {
    await ask(sql`select pg_advisory_xact_lock(${keyOf(name)})`)
  }

  /** Those of one process with the same claim wait here, where they occupy no connection. */
  async function claimingBatch(
    fragments: readonly Fragment[],
    { name, bounds }: { readonly name: string; readonly bounds: Bounds },
  ): Promise<readonly Rows[]> {
    using released = new DisposableStack()
    released.defer(await acquire(claims, { caller: name, getSignal: bounds.getSignal }))
    const work = async (transaction: Transaction): Promise<readonly Rows[]> => {
      const [, rows] = await Promise.all([
        claim(sessionOf(transaction), name),
        perform(transaction, fragments, undefined),
      ])
      return rows!
    }
    return await inTransaction(connections, work, { bounds, kind: 'claiming batch' })
  }

  async function batch(fragments: readonly Fragment[], options: BatchOptions = {}) {
    const { undoUnless, isUrgent = false, bounds, claim: name } = options
    if (name !== undefined) return await claimingBatch(fragments, { name, bounds: bounds ?? ORDINARY })
    const [first, ...others] = fragments
    if (first && others.length === 0) {
      // A single statement is a transaction of its own, and one that changes no row leaves nothing to undo.
      const rows = await query(first, { isUrgent, bounds })
      return undoUnless === 0 && rows.length === 0 ? undefined : [rows]
    }
    const work = (transaction: Transaction) => perform(transaction, fragments, undoUnless)
    return await inTransaction(connections, work, { bounds })
  }

  const keyOf = (name: string): Fragment => sql`hashtextextended(${param(`smalt: ${schema} ${name}`)}, 0)`

  return {
    dialect: POSTGRES,
    isShared: true,
    // Clocks of machines differ, so all processes use that of the database; on a cluster, that of the coordinator.
    now: raw('(extract(epoch from clock_timestamp()) * 1000)::bigint'),
    run,
    query,
    batch: batch as Engine['batch'],
    transaction: (work, { isReadOnly = false } = {}) =>
      inTransaction(connections, (transaction) => work(sessionOf(transaction)), { isSnapshot: isReadOnly }),
    claim,
    async tryClaim({ query }, name) {
      const [row] = await query(sql`select pg_try_advisory_xact_lock(${keyOf(name)})`)
      return row![0] === 't'
    },
    notify: async ({ query }, topic) =>
      void (await query(sql`select pg_notify(${param(CHANNELS[topic])}, ${param(schema)})`)),
    listen,
    findImportMarker: sql`select 1 from pg_class where relname = 'smalt_moving'
      and relnamespace = (select oid from pg_namespace where nspname = current_schema())`,
    secretTable: raw('smalt_epoch'),
  }
}

const CLAIMS = {
  slots: 64,
  slotsPerCaller: 1,
  maxWaitMs: WAIT_MS,
  maxWaiting: 10_000,
  maxWaitingPerCaller: 2_000,
}

export const CHANNELS = {
  metadata: 'smalt_metadata',
  events: 'smalt_events',
} as const satisfies Readonly<Record<Topic, string>>

/** Adapts a transaction to the session of bookkeeping. */
export function sessionOf(session: SqlSession): EngineSession {
  return { query: (fragment) => session.query(statementOf(fragment)) }
}

function statementOf(fragment: Fragment): Statement {
  return render(fragment, POSTGRES.placeholder)
}

/** Statements are sent without waiting for each other. Only those behind the deciding one wait for its result. */
async function perform(
  transaction: Transaction,
  fragments: readonly Fragment[],
  undoUnless: number | undefined,
): Promise<readonly Rows[] | undefined> {
  const query = (part: readonly Fragment[]): Promise<readonly Rows[]> =>
    Promise.all(part.map((fragment) => transaction.query(statementOf(fragment))))
  if (undoUnless === undefined) return await query(fragments)
  const decided = await query(fragments.slice(0, undoUnless + 1))
  if (decided[undoUnless]!.length > 0) return [...decided, ...(await query(fragments.slice(undoUnless + 1)))]
  transaction.undo()
  return undefined
}
