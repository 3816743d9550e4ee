/**
 * The interface between a database and the bookkeeping in `tables/`, which is written once for all databases.
 * Statements are fragments; each engine writes its own placeholders.
 *
 * A new database needs a `Dialect` for the SQL of queries, and these 19 functions to serve requests:
 *
 * | Interface | Functions |
 * |---|---|
 * | `Engine` | `run`, `query`, `batch`, `transaction`, `claim`, `tryClaim`, `notify`, `listen` |
 * | `OutboxTable` | `setBounds`, `untilNumbered` |
 * | `Collections` | `change`, `reload` |
 * | `Store` | `answers`, `find`, `stream`, `explain`, `readHistory`, `write`, `transact` |
 *
 * A move between stores needs nine more, for the tables of documents: `CollectionExport` (three),
 * `CollectionImport` (five), and `claim`, which excludes concurrent moves.
 */
import type { Bounds } from './bounds.ts'
import type { Dialect } from './sql/dialect.ts'
import { type Fragment, sql } from './sql/fragment.ts'

export interface Engine {
  readonly dialect: Dialect
  /** Whether other processes may use the same database at the same time. */
  readonly isShared: boolean
  /**
   * Milliseconds since 1970, by the clock that all processes share. It is read for each row; a subselect of it is read once for
   * the whole statement, and can be compared by an index.
   */
  readonly now: Fragment
  /** Runs one operation: waits until the store is ready, measures the time, and turns failures into public errors. */
  readonly run: <T>(operation: Operation, work: () => Promise<T>) => Promise<T>
  /** Runs one statement that only reads. */
  readonly query: (statement: Fragment, options?: QueryOptions) => Promise<Rows>
  readonly batch: Batch
  /** Runs statements that depend on each other in one transaction; a read-only one sees one snapshot. */
  readonly transaction: <T>(
    work: (session: EngineSession) => Promise<T>,
    options?: { readonly isReadOnly?: boolean },
  ) => Promise<T>
  /** Claims a name until the transaction of the session ends, and waits for other transactions that have it. */
  readonly claim: (session: EngineSession, name: string) => Promise<void>
  /**
   * Claims a name until the transaction of the session ends, without waiting; returns false while the transaction of
   * another process has it.
   */
  readonly tryClaim: (session: EngineSession, name: string) => Promise<boolean>
  /** Wakes the listeners in all processes when the transaction of the session commits. */
  readonly notify: (session: EngineSession, topic: Topic) => Promise<void>
  /** Registers a callback for changes made by any process. Notifications can be lost, so listeners must also poll. */
  readonly listen: (topic: Topic, listener: () => void) => void
  /** Returns a row when the table exists that marks an unfinished import. */
  readonly findImportMarker: Fragment
  /** The table with the secret of the store, in one row. */
  readonly secretTable: Fragment
}

/**
 * Runs statements that write in one transaction, and returns the rows of each. The statements are data, not a
 * callback, because SQLite's writer runs all batches of one turn of the event loop in one transaction.
 */
interface Batch {
  (statements: readonly Fragment[], options?: QueryOptions & Claiming): Promise<readonly Rows[]>
  /** Returns undefined, and writes nothing, when the statement with the index `undoUnless` returns no row. */
  (
    statements: readonly Fragment[],
    options: QueryOptions & { readonly undoUnless: number },
  ): Promise<readonly Rows[] | undefined>
}

/** Runs statements one after the other in a transaction. */
export interface EngineSession {
  readonly query: (statement: Fragment) => Promise<Rows>
}

/** Columns by position. An engine may return numbers as text, so readers of a number convert it. */
export type Row = readonly (string | number | null)[]
export type Rows = readonly Row[]

/** Names of operations in the metrics. */
export type Operation =
  | 'sink'
  | 'lock'
  | 'sequence'
  | 'answers'
  | 'events'
  | 'trim'
  | 'metadata'
  | 'epoch'
  | 'move'
  | 'ping'

/** `events`: new events can be read. `metadata`: metadata has changed. */
export type Topic = 'events' | 'metadata'

export interface QueryOptions {
  /** Whether the statement needs a connection that slow statements cannot occupy. */
  readonly isUrgent?: boolean
  /** Those of the request; absent for work of the store itself. */
  readonly bounds?: Bounds | undefined
}

export interface BatchOptions extends QueryOptions, Claiming {
  readonly undoUnless?: number
}

interface Claiming {
  /** A name that is claimed before the first statement: batches with the same one run one after the other. */
  readonly claim?: string | undefined
}

/** Rejects when the database cannot be used. */
export async function ping(engine: Engine): Promise<void> {
  await engine.run('ping', () => engine.query(sql`select 1`, { isUrgent: true }))
}
