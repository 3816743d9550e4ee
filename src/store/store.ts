/** Where documents live: the one seam behind which databases differ. `test/store/contract.ts` defines correct. */
import type { Json, JsonObject } from '../base/json/json.ts'
import type { Query } from '../lang/query.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import type { Outcome, ReadPlan, StoredDocument, WritePlan } from '../plan/plan.ts'
import type { Sequence } from '../schema/field.ts'
import type { Bounds } from './bounds.ts'
import type { Loan } from '../base/work/loan.ts'
import type { HistoryRequest, HistoryVersion } from './history.ts'

export interface Store extends AsyncDisposable {
  /** The backend's name in metadata, and the key of its part of an explanation. */
  readonly kind: StoreKind
  /** Whether other processes may use the same database at the same time. */
  readonly isShared: boolean
  /** What the store promises, for people: engine and durability. */
  readonly description: string
  /** Whether the engine can answer the query wherever it stands, also inside of others. */
  answers(query: Query<FieldRef>): boolean
  /** Hands over the documents of the page one after the other; what `take` throws ends the find. */
  find(plan: ReadPlan, take: (document: StoredDocument) => void, bounds: Bounds): Promise<Found>
  /**
   * The documents of the page at the pace of the reader, however many they are. Each matches when it is given; nothing is
   * held between two pages, so that they are not all of one moment.
   */
  stream(plan: ReadPlan, bounds: Bounds): AsyncIterable<StoredDocument>
  explain(plan: ReadPlan, bounds: Bounds): Promise<Explanation>
  /** What is known of the versions of one document, oldest first, all from one moment. */
  readHistory(request: HistoryRequest, bounds: Bounds): AsyncIterable<HistoryVersion>
  /**
   * One transaction. What becomes of each document is reported from inside it, so what a report throws takes
   * everything back. A store that must begin again asks for a new report, and then only that one counts. Tells whether
   * the plan was committed; an atomic plan with a failure is not.
   */
  write(plan: WritePlan, begin: () => Report, bounds: Bounds): Promise<boolean>
  /**
   * Runs work on a store of its own, all of it in one transaction that is taken back when the work throws. Where others
   * got in its way the work runs once more from its beginning.
   */
  transact<T>(
    work: (store: StoreSession) => Promise<T>,
    options?: { readonly isReadOnly?: boolean },
  ): Promise<T>
  /** Where the database belongs to this process: lends the right to write to another thread of it. */
  lendWriter?(): Promise<Loan>
  /** Values nobody was given before and nobody will be given again. */
  nextValues(sequence: Sequence, count: number): Promise<readonly bigint[]>
  /** Fails when the store cannot be used. */
  ping(): Promise<void>
}

export type StoreKind = 'sqlite' | 'postgres'

/** Told what became of each document, in their order; `item` is the number of the document in an insert or a save. */
export type Report = (outcome: Outcome, item?: number) => void

/** What can be done with documents, inside a transaction or on its own. */
export type StoreSession = Pick<Store, 'kind' | 'answers' | 'find' | 'explain' | 'write' | 'nextValues'>

export interface Found {
  /** All matches, whatever the page; 0 when the plan does not count. */
  readonly matchCount: number
}

export interface Explanation {
  /** The store's own query text, with its parameters apart. */
  readonly query: { readonly sql: string; readonly parameters: readonly Json[] }
  readonly plan: JsonObject
  readonly matchCount: number
}
