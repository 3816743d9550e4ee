/** Dependencies of the operations, passed as arguments: no operation uses a global clock or store. */
import type { Limits } from '../base/limits.ts'
import { Work } from '../base/work/work.ts'
import type { WatchingHook } from '../metadata/documents/hooks.ts'
import type { Index } from '../metadata/documents/indexes.ts'
import type { OutboxEntry, WatchedChange } from '../plan/plan.ts'
import { printDate } from '../schema/date.ts'
import type { Schema } from '../schema/schema.ts'
import type { Bounds } from '../store/bounds.ts'
import type { Database } from '../store/database.ts'
import type { StoreSession } from '../store/store.ts'
import type { Dialect } from './dialect.ts'
import type { OnSlow } from './slow/slow-request.ts'

export interface Deps {
  readonly schemaOf: (entity: string, version: string | undefined) => Schema
  /** All versions of an entity; empty if the entity does not exist. */
  readonly versionsOf: (entity: string) => readonly string[]
  /** The hooks of an entity that create events; the same objects until its metadata changes. */
  readonly hooksOf: (entity: string) => readonly WatchingHook[]
  readonly indexesOf: (entity: string) => readonly Index[]
  /** Epoch of the metadata in use; the number changes with every change of metadata. */
  readonly epoch: () => number
  /** Identity of the metadata in use: a new object whenever metadata is reloaded. */
  readonly metadata: () => object
  /** The store with the documents of the schema; inside a transaction, the session of that transaction. */
  readonly storeOf: (schema: Schema) => StoreSession
  readonly storeIn: (datasource: string) => Database
  /** The default store. It also stores data that belongs to no entity. */
  readonly store: Database
  /** Key for the digests that replace the ids of hidden documents. */
  readonly secret: () => string
  readonly limits: Limits
  readonly dialect: Dialect
  readonly now: () => Date
  readonly onInternalError: (error: unknown) => void
  /** Receives each request that took longer than `limits.slowRequestMs`. */
  readonly onSlow?: OnSlow
  /** Whether everything is rolled back in the end. */
  readonly isDryRun?: boolean
  /** Receives the outbox entries of each change. */
  readonly onCaptured?: (change: WatchedChange, entries: readonly OutboxEntry[]) => void
}

/** The signal that is aborted when the caller disconnects. */
export type GetSignal = () => AbortSignal

/** The budget of a request. A request may set a shorter time limit than the configured one, never a longer one. */
export function workOf(
  { limits }: Pick<Deps, 'limits'>,
  {
    work,
    maxTimeMs = Infinity,
  }: { readonly work?: Work | undefined; readonly maxTimeMs?: number | undefined },
): Work {
  const own = work ?? new Work({ timeLimitMs: limits.queryTimeMs, responseBytes: limits.resultBytes })
  own.limitTimeTo(maxTimeMs)
  return own
}

/** When a request is, as a stored date: one time for all that the request does, read when it is needed. */
export function requestTimeOf({ now }: Pick<Deps, 'now'>, work: Work | undefined): () => string {
  let time: Date | undefined
  return () => printDate(work ? work.requestTimeBy(now) : (time ??= now()))
}

/** The part of a request that a store needs: when to stop, and whose share of its resources to use. */
interface StoreUser {
  readonly getSignal?: GetSignal | undefined
  readonly chargedTo?: string | undefined
}

/** The limits of a store operation. All operations of a request share one clock. */
export function boundsOf(work: Work, { getSignal, chargedTo }: StoreUser): Bounds {
  return new RequestBounds(work, getSignal, chargedTo)
}

/** A class, because every request has one, and the engine makes an object with a getter far more slowly. */
class RequestBounds implements Bounds {
  readonly work: Work
  readonly getSignal: GetSignal | undefined
  readonly caller: string | undefined

  constructor(work: Work, getSignal: GetSignal | undefined, caller: string | undefined) {
    this.work = work
    this.getSignal = getSignal
    this.caller = caller
  }

  get timeLimitMs(): number {
    // Timers accept no delay below 1 ms.
    return Math.max(1, this.work.remainingMs)
  }
}

/** The limits of the request; undefined where it has no clock of its own. */
export function boundsIn({
  work,
  ...user
}: StoreUser & { readonly work?: Work | undefined }): Bounds | undefined {
  return work && boundsOf(work, user)
}

/** The limits of a response page, and the key for document versions that must not reveal `_id`. */
export function pageBounds({ secret }: Pick<Deps, 'secret'>, work: Work): PageBounds {
  return { work, secret: secret() }
}

export interface PageBounds {
  readonly work: Work
  readonly secret: string
}
