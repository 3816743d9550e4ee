/**
 * The interface to documents. Everything above it is the same for all databases; `test/store/contract.ts`
 * defines what is correct.
 */
import type { Json, JsonObject } from '../base/json/json.ts'
import type { Group } from '../lang/aggregate.ts'
import type { Query } from '../lang/query.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import type { AggregatePlan } from '../plan/aggregate.ts'
import type { Outcome, ReadPlan, StoredDocument, WritePlan } from '../plan/plan.ts'
import type { Sequence } from '../schema/field.ts'
import type { Bounds } from './bounds.ts'
import type { Loan } from '../base/work/loan.ts'
import type { SinkStore } from './sinks.ts'
import type { AnswerSession } from './tables/answers.ts'
import type { Locks } from './tables/locks.ts'
import type { HistoryRequest, HistoryVersion } from './history.ts'

/** Receives the documents of a find, one after the other. */
export type OnDocument = (document: StoredDocument) => void

/** Receives the groups of an aggregate, one after the other. */
export type OnGroup = (group: Group) => void

/** Starts a page of groups: groups that were passed on before do not count. */
export type BeginGroups = () => OnGroup

export interface Store extends AsyncDisposable {
  /** The engine's name in metadata, and the key of its part of an explanation. */
  readonly kind: StoreKind
  /** Whether other processes may use the same database at the same time. */
  readonly isShared: boolean
  /** Engine and durability, in words for the log. */
  readonly description: string
  /**
   * Whether the query can be pushed down at any position, also inside of other queries; with `asOf`, to a read of the
   * past.
   */
  answers(query: Query<FieldRef>, asOf?: number): boolean
  /** Whether one statement may read the documents of several collections; otherwise they are read separately. */
  canJoin(): boolean
  /** Passes the documents of the page to `take`, one after the other; an error that `take` throws ends the find. */
  find(plan: ReadPlan, take: OnDocument, bounds: Bounds): Promise<Found>
  /**
   * Streams the documents of the page at the reader's pace. Each document matches when it is read. No
   * snapshot stays open between pages, so documents may be of different states of the database.
   */
  stream(plan: ReadPlan, bounds: Bounds): AsyncIterable<StoredDocument>
  explain(plan: ReadPlan, bounds: Bounds): Promise<Explanation>
  /** Whether one statement can aggregate the rows of the plan exactly; `answers` decides about its query. */
  canAggregate(plan: AggregatePlan): boolean
  /** Passes the groups of the page to the function that `begin` returns. If it has to start again, it calls `begin` again. */
  aggregate(plan: AggregatePlan, begin: BeginGroups, bounds: Bounds): Promise<Found>
  explainAggregate(plan: AggregatePlan, bounds: Bounds): Promise<Explanation>
  /** The versions of one document, oldest first, from one snapshot. */
  readHistory(request: HistoryRequest, bounds: Bounds): AsyncIterable<HistoryVersion>
  /**
   * Runs a plan in one transaction. Outcomes are reported inside it, so an error that a report throws rolls
   * everything back. A store that retries the transaction calls `begin` again, and only the last report
   * counts. Returns whether the plan was committed; an atomic plan with a failure is not.
   */
  write(plan: WritePlan, begin: () => Report, bounds: Bounds): Promise<boolean>
  /**
   * Runs work in one transaction, which is rolled back when the work throws. After a conflict with other
   * transactions the work runs again from its beginning.
   */
  transact<T>(work: (session: TransactionSession) => Promise<T>, options?: TransactOptions): Promise<T>
  /** Present where one process owns the database: lends the write lock to another thread of it. */
  lendWriter?(): Promise<Loan>
  /** Returns values that are unique for all time. */
  nextValues(sequence: Sequence, count: number, bounds?: Bounds): Promise<readonly bigint[]>
  /** The values that `nextValues` would return after `skip` others; they stay in the sequence. */
  peekValues(sequence: Sequence, options: PeekOptions): Promise<readonly bigint[]>
  /** Continues a sequence at `initialValue` or later; a sequence that is further already does not change. */
  raiseSequence(sequence: Sequence): Promise<void>
  /** Rejects when the store cannot be used. */
  ping(): Promise<void>
}

export interface PeekOptions {
  readonly skip: number
  readonly count: number
}

export interface TransactOptions {
  readonly isReadOnly?: boolean
  /** Rolls back in the end, and takes no values from sequences. */
  readonly isDryRun?: boolean
  /** Whether each statement sees what others have committed by then, where one database has several writers. */
  readonly seesLatest?: boolean | undefined
  /** Whom the transaction is charged to; see `Bounds`. */
  readonly caller?: string | undefined
  /** Limit how long it waits for others and works, but not its commit. */
  readonly bounds?: Bounds | undefined
}

export type StoreKind = 'sqlite' | 'postgres'

/** Receives the outcome of each document, in order; `item` is the index of the document in an insert or a save. */
export type Report = (outcome: Outcome, item?: number) => void

/** The operations on documents that are available inside a transaction. */
export type StoreSession = Pick<
  Store,
  | 'kind'
  | 'answers'
  | 'canJoin'
  | 'find'
  | 'explain'
  | 'canAggregate'
  | 'aggregate'
  | 'explainAggregate'
  | 'write'
  | 'nextValues'
>

export interface TransactionSession extends StoreSession {
  readonly bookkeeping: Bookkeeping
}

/** Tables beside the documents, changed in the same transaction. */
export interface Bookkeeping {
  readonly keyedAnswers: AnswerSession
  readonly locks: Locks
  readonly sinks: SinkStore
}

export interface Found {
  /** The number of all matches, not only those of the page; 0 when the plan does not count. */
  readonly matchCount: number
}

export interface Explanation {
  /** The SQL text, with its parameters separate. */
  readonly query: { readonly sql: string; readonly parameters: readonly Json[] }
  readonly plan: JsonObject
  readonly matchCount: number
}
