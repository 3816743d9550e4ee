/** The entries of a bulk, what runs them, and how one of them runs. */
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Json } from '../../base/json/json.ts'
import type { Limits } from '../../base/limits.ts'
import type { Work } from '../../base/work/work.ts'
import type { Bounds } from '../../store/bounds.ts'
import type { Database } from '../../store/database.ts'
import type { TransactionSession } from '../../store/store.ts'
import type { Bulk, BulkEntry, BulkOperation } from '../request/bulk-request.ts'
import { type DataResponse, failed } from '../response.ts'
import type { OnceService, RequestContext, Target } from '../service.ts'

export type Operations = Readonly<
  Record<BulkOperation, (caller: Caller, target: Target, body: Json) => Promise<DataResponse>>
>

export interface BulkRunner {
  readonly operations: Operations
  /** Datasource of the entity that a request names; throws if the entity does not exist. */
  readonly datasourceOf: (target: Target) => string
  /** Runs operations in one shared transaction, which is rolled back when the work throws. */
  readonly transact: <T>(transaction: Transaction, work: (operations: Operations) => Promise<T>) => Promise<T>
  /** Receives internal errors: the entry fails, the other entries continue. */
  readonly onInternalError: (error: unknown) => void
  /** A response in the form in which it is printed. */
  readonly respond: (response: DataResponse) => DataResponse
}

/** For bulks with an idempotency key. */
export interface KeyedBulkRunner extends BulkRunner {
  /** The operations on the session of an open transaction. */
  readonly operationsIn: (session: TransactionSession, store: Database) => Operations
  readonly once: OnceService['data']
  /** Without a name the default one. */
  readonly storeIn: (datasource: string | undefined) => Database
  readonly limits: Limits
  readonly now: () => Date
}

export interface Transaction {
  readonly datasource: string | undefined
  /** A read-only transaction does not block writers. */
  readonly isReadOnly: boolean
  /** Rolled back in the end. */
  readonly isDryRun?: boolean
  readonly chargedTo?: string | undefined
  /** See `TransactOptions.bounds`. */
  readonly bounds?: Bounds | undefined
}

export type RunningBulk = Bulk & { readonly context: RequestContext & { readonly work: Work } }

export interface Asking {
  readonly caller: Caller
  readonly context: RequestContext
}

export async function runEntry(
  { task }: BulkEntry,
  operations: Operations,
  { caller, context }: Asking,
): Promise<DataResponse> {
  if (task instanceof ServiceError) return failed(task)
  const reason = withdrawal(context)
  if (reason) return failed(reason.within('bulk'))
  const { offload: _, ...own } = context
  return await operations[task.operation](caller, { ...own, ...task.target }, task.request)
}

/**
 * The reason why the request was revoked, if any. A mere disconnect has no such reason: the bulk then runs to
 * its end.
 */
export function withdrawal({ getSignal }: RequestContext): ServiceError | undefined {
  const signal = getSignal?.()
  return signal?.aborted && signal.reason instanceof ServiceError ? signal.reason : undefined
}

/** Undefined if the entry cannot run at all; the entry reports the reason when it is run. */
export function datasourceOf(runner: BulkRunner, { task }: BulkEntry): string | undefined {
  if (task instanceof ServiceError) return undefined
  try {
    return runner.datasourceOf(task.target)
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

export function isWrite({ task }: BulkEntry): boolean {
  if (task instanceof ServiceError) return false
  return !READS.has(task.operation)
}

/** It writes no document, but moves a sequence on. */
export function generates({ task }: BulkEntry): boolean {
  return !(task instanceof ServiceError) && task.operation === 'generate'
}

const READS: ReadonlySet<BulkOperation> = new Set(['find', 'aggregate', 'explain', 'generate'])
