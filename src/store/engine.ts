/**
 * What a database offers to the bookkeeping of `tables/`, which is written once for all of them. Statements are
 * fragments; the engine writes its own placeholders.
 *
 * A further database brings a `Dialect` for the SQL of queries, and these 18 functions to serve requests:
 *
 * | Interface | Functions |
 * |---|---|
 * | `Engine` | `run`, `query`, `batch`, `transaction`, `notify`, `listen`, `readClock` |
 * | `OutboxTable` | `setBounds`, `untilNumbered` |
 * | `Collections` | `change`, `reload` |
 * | `Store` | `answers`, `find`, `stream`, `explain`, `readHistory`, `write`, `transact` |
 *
 * A move between stores needs nine more, for tables of documents: `CollectionExport` (three), `CollectionImport` (five),
 * and `claim`, which keeps other moves away.
 */
import type { Bounds } from './bounds.ts'
import type { Dialect } from './sql/dialect.ts'
import { type Fragment, sql } from './sql/fragment.ts'

export interface Engine {
  readonly dialect: Dialect
  /** Whether other processes may use the same database at the same time. */
  readonly isShared: boolean
  /** Milliseconds since 1970, by the one clock that decides for all processes. */
  readonly readClock: () => Promise<number>
  /** Wraps one operation: it begins once the store is ready, is timed, and fails in words that callers may read. */
  readonly run: <T>(operation: Operation, work: () => Promise<T>) => Promise<T>
  /** One statement that only reads. */
  readonly query: (statement: Fragment, options?: QueryOptions) => Promise<Rows>
  readonly batch: Batch
  /** Work whose statements depend on each other, in one transaction; one that only reads sees one moment. */
  readonly transaction: <T>(
    work: (session: Session) => Promise<T>,
    options?: { readonly isReadOnly?: boolean },
  ) => Promise<T>
  /** Wakes those who listen, here and elsewhere, when the transaction of the session commits. */
  readonly notify: (session: Session, topic: Topic) => Promise<void>
  /** Calls back soon after somebody, here or elsewhere, changed something; it only hastens, and may miss some. */
  readonly listen: (topic: Topic, listener: () => void) => void
  /** Gives a row when there is the table that marks an import as unfinished. */
  readonly findImportMarker: Fragment
  /** The table that holds the secret of the store, in one row. */
  readonly secretTable: Fragment
}

/**
 * Statements that write, in one transaction; the answer has the rows of each. They are data instead of a callback,
 * because the writer of SQLite runs all batches of one turn of the event loop in one transaction.
 */
interface Batch {
  (statements: readonly Fragment[], options?: Urgency): Promise<readonly Rows[]>
  /** Undefined, and nothing written, when the statement with the index `undoUnless` gives no row. */
  (
    statements: readonly Fragment[],
    options: Urgency & { readonly undoUnless: number },
  ): Promise<readonly Rows[] | undefined>
}

/** Statements one after the other, in a transaction. */
export interface Session {
  readonly query: (statement: Fragment) => Promise<Rows>
}

/** Columns by position. An engine may give numbers as text; who reads a number converts it. */
export type Row = readonly (string | number | null)[]
export type Rows = readonly Row[]

/** The names under which operations are timed. */
export type Operation =
  | 'sink'
  | 'lock'
  | 'sequence'
  | 'events'
  | 'trim'
  | 'metadata'
  | 'epoch'
  | 'move'
  | 'ping'

/** Events that can be read, or metadata. */
export type Topic = 'events' | 'metadata'

export interface Urgency {
  /** Whether a single statement must not wait for a connection that slow statements may have. */
  readonly isUrgent?: boolean
}

export interface QueryOptions extends Urgency {
  readonly bounds?: Bounds
}

export interface BatchOptions extends Urgency {
  readonly undoUnless?: number
}

/** Fails when the database cannot be used. */
export async function ping(engine: Engine): Promise<void> {
  await engine.run('ping', () => engine.query(sql`select 1`, { isUrgent: true }))
}
