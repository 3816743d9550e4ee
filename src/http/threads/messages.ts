/** Messages between the main thread and worker threads: plain data, and byte buffers that are transferred. */
import type { Permission } from '../../access/caller.ts'
import { type Code, ServiceError } from '../../base/errors.ts'
import type { Limits } from '../../base/limits.ts'
import type { Idempotency } from '../../service/idempotency.ts'
import type { Datasource } from '../../service/open/stores.ts'
import type { EventNumber } from '../../service/service.ts'
import type { SinkEvent } from '../../service/sink-service.ts'
import type { SlowRequest } from '../../service/slow/slow-request.ts'
import type { LoanResult } from '../../base/work/loan.ts'
import type { Compatibility } from '../compatibility.ts'
import type { RecordWrite } from '../routes/import-record.ts'
import type { Params } from '../routes/route.ts'

/** Settings with which a worker thread opens its copy of the service. */
export interface ThreadData {
  readonly datasources: readonly Datasource[]
  readonly limits: Limits
  readonly compatibility?: Compatibility | undefined
}

export type ToThread =
  | JobMessage
  | { readonly kind: 'lent'; readonly loan: number; readonly lastVersion: number }
  | { readonly kind: 'charged'; readonly refusal: Refusal | undefined }

export interface JobMessage {
  readonly kind: 'job'
  readonly task: Task
  readonly caller: CallerMessage
  /** The raw body of the request; empty where there was none. */
  readonly body: Uint8Array
  readonly timeLimitMs: number
  /** Maximum size of the response. */
  readonly responseBytes: number
  /** When the request is, where the clock was read already. */
  readonly requestTime: Date | undefined
  /** The metadata of the thread must be at least this recent. */
  readonly epoch: number
  /** Shared memory, set to 1 when the caller no longer waits: a busy thread would not process a message. */
  readonly cancelled: Int32Array
}

/** An HTTP request, or a part of one. */
export type Task =
  | {
      readonly kind: 'route'
      readonly method: string
      /** The template of the route. */
      readonly path: string
      readonly params: Params
      readonly search: string
      readonly accept: string
      readonly headers: Params
      readonly idempotency?: Idempotency
    }
  | {
      readonly kind: 'operation'
      readonly operation: string
      readonly entity: string
      readonly version?: string
      readonly idempotency?: Idempotency
    }
  /** A record of an import: the body is its text, and is parsed as a record is. */
  | {
      readonly kind: 'record'
      readonly write: RecordWrite
      readonly entity: string
      readonly version?: string
      readonly idempotency?: Idempotency
    }
  /** An event to render. */
  | ({ readonly kind: 'event' } & EventNumber)
  /** An event to render for a sink. It comes with its documents, because retention may have removed it from the log. */
  | { readonly kind: 'sink event'; readonly event: SinkEvent }

export interface CallerMessage {
  readonly principal: string
  readonly roles: readonly string[]
  readonly permissions: readonly Permission[]
  /** As JSON text, so that numbers keep all their digits. */
  readonly claims: string
}

export type FromThread =
  | { readonly kind: 'reply'; readonly reply: ReplyMessage; readonly heapBytes: number }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly heapBytes: number }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** Its service cannot be opened, so it is of no use; the job is answered by a message that follows. */
  | { readonly kind: 'unusable' }
  /** The request sets a shorter time limit than the service. */
  | { readonly kind: 'time limit'; readonly timeLimitMs: number }
  /** The cost of the request for the rate limit. */
  | { readonly kind: 'charge'; readonly cost: number }
  | { readonly kind: 'borrow'; readonly loan: number; readonly datasource: string }
  | { readonly kind: 'give back'; readonly loan: number; readonly written: LoanResult }
  | { readonly kind: 'timing'; readonly operation: string; readonly seconds: number }
  | { readonly kind: 'slow'; readonly slow: SlowRequest }
  /** An internal error that is not visible in the response. */
  | { readonly kind: 'internal error'; readonly error: unknown }
  /** For the log. */
  | { readonly kind: 'warning'; readonly message: string }

export interface ReplyMessage {
  readonly status: number
  readonly bytes: Uint8Array
  /** Whether the response exceeded `responseBytes`. */
  readonly hasExceededResponse: boolean
  readonly type?: string
  readonly headers?: readonly string[]
  /** Of the metadata by which an event was rendered. */
  readonly epoch?: number
}

/** A `ServiceError` as plain data. */
export interface Refusal {
  readonly code: Code
  readonly message: string
  readonly context: string
}

/** Errors do not keep their class on the way between threads. */
export function refusalOf({ code, message, context }: ServiceError): Refusal {
  return { code, message, context }
}

export function errorFrom({ code, message, context }: Refusal): ServiceError {
  return new ServiceError(code, message, { context })
}
