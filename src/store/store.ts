/**
 * The interface to documents. Everything above it is the same for all databases; `test/store/contract.ts`
 * defines what is correct.
 */
import type { Json, JsonObject } from '../base/json/json.ts'
import type { Query } from '../lang/query.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import type { Outcome, ReadPlan, StoredDocument, WritePlan } from '../plan/plan.ts'
import type { Sequence } from '../schema/field.ts'
import type { Bounds } from './bounds.ts'
import type { Loan } from '../base/work/loan.ts'
import type { HistoryRequest, HistoryVersion } from './history.ts'

export interface Store extends AsyncDisposable {
  /** The engine's name in metadata, and the key of its part of an explanation. */
  readonly kind: StoreKind
  /** Whether other processes may use the same database at the same time. */
  readonly isShared: boolean
  /** Engine and durability, in words for the log. */
  readonly description: string
  /** Whether the query can be pushed down at any position, also inside of other queries. */
  answers(query: Query<FieldRef>): boolean
  /** Passes the documents of the page to `take`, one after the other; an error that `take` throws ends the find. */
  find(plan: ReadPlan, take: (document: StoredDocument) => void, bounds: Bounds): Promise<Found>
  /**
   * Streams the documents of the page at the reader's pace. Each document matches when it is read. No
   * snapshot stays open between pages, so documents may be of different states of the database.
   */
  stream(plan: ReadPlan, bounds: Bounds): AsyncIterable<StoredDocument>
  explain(plan: ReadPlan, bounds: Bounds): Promise<Explanation>
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
  transact<T>(
    work: (store: StoreSession) => Promise<T>,
    options?: { readonly isReadOnly?: boolean },
  ): Promise<T>
  /** Present where one process owns the database: lends the write lock to another thread of it. */
  lendWriter?(): Promise<Loan>
  /** Returns values that are unique for all time. */
  nextValues(sequence: Sequence, count: number): Promise<readonly bigint[]>
  /** Rejects when the store cannot be used. */
  ping(): Promise<void>
}

export type StoreKind = 'sqlite' | 'postgres'

/** Receives the outcome of each document, in order; `item` is the index of the document in an insert or a save. */
export type Report = (outcome: Outcome, item?: number) => void

/** The operations on documents that are available inside a transaction. */
export type StoreSession = Pick<Store, 'kind' | 'answers' | 'find' | 'explain' | 'write' | 'nextValues'>

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
