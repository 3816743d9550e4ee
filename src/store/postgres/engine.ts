/** PostgreSQL as an engine for the bookkeeping in `store/tables`. */
import type { BatchOptions, Engine, QueryOptions, Rows, EngineSession, Topic } from '../engine.ts'
import { type Fragment, type Statement, param, raw, render, sql } from '../sql/fragment.ts'
import { POSTGRES } from '../sql/postgres-dialect.ts'
import type { SqlSession } from './connection/connection.ts'
import type { Connections } from './connection/connections.ts'
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
      ? connections.quick.query(statementOf(fragment))
      : connections.query(statementOf(fragment), bounds)

  async function batch(fragments: readonly Fragment[], { undoUnless, isUrgent = false }: BatchOptions = {}) {
    const [first, ...others] = fragments
    if (first && others.length === 0) {
      // A single statement is a transaction of its own, and one that changes no row leaves nothing to undo.
      const rows = await query(first, { isUrgent })
      return undoUnless === 0 && rows.length === 0 ? undefined : [rows]
    }
    return await inTransaction(connections, (transaction) => perform(transaction, fragments, undoUnless))
  }

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
    async tryClaim({ query }, name) {
      const [row] = await query(
        sql`select pg_try_advisory_xact_lock(hashtextextended(${param(`smalt: ${schema} ${name}`)}, 0))`,
      )
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
