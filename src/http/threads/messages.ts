/** What the main thread and the threads beside it say to each other; plain data, and bytes that change owners. */
import type { Permission } from '../../access/caller.ts'
import type { Code } from '../../base/errors.ts'
import type { Limits } from '../../base/limits.ts'
import type { Datasource } from '../../service/open.ts'
import type { LoanResult } from '../../base/work/loan.ts'
import type { Params } from '../routes/route.ts'

/** What a thread needs to open the service once more. */
export interface ThreadData {
  readonly datasources: readonly Datasource[]
  readonly limits: Limits
}

export type ToThread =
  | JobMessage
  | { readonly kind: 'lent'; readonly loan: number; readonly lastVersion: number }
  | { readonly kind: 'charged'; readonly refusal: Refusal | undefined }

export interface JobMessage {
  readonly kind: 'job'
  readonly task: Task
  readonly caller: CallerMessage
  /** The body as it was sent; empty where there was none. */
  readonly body: Uint8Array
  readonly timeLimitMs: number
  /** What its answer may have. */
  readonly responseBytes: number
  /** The metadata must be at least this recent. */
  readonly epoch: number
  /** Becomes 1 when nobody waits for the answer any more. */
  readonly cancelled: Int32Array
}

/** A request of HTTP, or an operation that is a part of one. */
export type Task =
  | {
      readonly kind: 'route'
      readonly method: string
      /** The template of the route. */
      readonly path: string
      readonly params: Params
      readonly search: string
      readonly accept: string
    }
  | {
      readonly kind: 'operation'
      readonly operation: string
      readonly entity: string
      readonly version?: string
    }

export interface CallerMessage {
  readonly principal: string
  readonly roles: readonly string[]
  readonly permissions: readonly Permission[]
  /** As JSON text, so that every digit survives. */
  readonly claims: string
}

export type FromThread =
  | { readonly kind: 'reply'; readonly reply: ReplyMessage; readonly heapBytes: number }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly heapBytes: number }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The request asked for less time than the limit. */
  | { readonly kind: 'time limit'; readonly timeLimitMs: number }
  /** How many requests the request counts as. */
  | { readonly kind: 'charge'; readonly cost: number }
  | { readonly kind: 'borrow'; readonly loan: number; readonly datasource: string }
  | { readonly kind: 'give back'; readonly loan: number; readonly written: LoanResult }
  | { readonly kind: 'timing'; readonly operation: string; readonly seconds: number }
  /** Something went wrong that the answer does not tell. */
  | { readonly kind: 'internal error'; readonly error: unknown }

export interface ReplyMessage {
  readonly status: number
  readonly bytes: Uint8Array
  /** Whether the answer was too large for what it may have. */
  readonly hasExceededResponse: boolean
  readonly type?: string
  readonly headers?: readonly string[]
}

/** A `ServiceError` on its way between threads. */
export interface Refusal {
  readonly code: Code
  readonly message: string
  readonly context: string
}
