/** What operations need from outside, each as an argument: no operation reaches for a clock or a store by itself. */
import type { Limits } from '../base/limits.ts'
import { Work } from '../base/work/work.ts'
import type { Hook } from '../metadata/documents/hooks.ts'
import type { Schema } from '../schema/schema.ts'
import type { Bounds } from '../store/bounds.ts'
import type { Database } from '../store/database.ts'
import type { Store, StoreSession } from '../store/store.ts'

export interface Deps {
  readonly schemaOf: (entity: string, version: string | undefined) => Schema
  /** All versions of an entity; none where there is no such entity. */
  readonly versionsOf: (entity: string) => readonly string[]
  /** What watches documents of an entity; the same objects as long as its metadata stay. */
  readonly hooksOf: (entity: string) => readonly Hook[]
  /** Of the metadata in use: another number once something in it changed. */
  readonly epoch: () => number
  /** The metadata in use: another object whenever they were read anew. */
  readonly metadata: () => object
  /** Where the documents of the schema are; inside a transaction, the session of that transaction. */
  readonly storeOf: (schema: Schema) => StoreSession
  readonly storeIn: (datasource: string) => Store
  /** The default store, which holds what belongs to no entity. */
  readonly store: Database
  /** What marks of hidden documents are made with. */
  readonly secret: () => string
  readonly limits: Limits
  readonly now: () => Date
  readonly onInternalError: (error: unknown) => void
}

/** The signal that is aborted when the caller hangs up. */
export type GetSignal = () => AbortSignal

/** The clock of a request: it may ask for less time than the limit, never for more. */
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

/** The part of a request that a store has to know: when to stop, and whose share of its resources to use. */
interface StoreUser {
  readonly getSignal?: GetSignal
  readonly chargedTo?: string
}

/** The limits of a store operation. All operations of a request share its one clock. */
export function boundsOf(work: Work, { getSignal, chargedTo }: StoreUser): Bounds {
  return {
    get timeLimitMs() {
      // timers take no less
      return Math.max(1, work.remainingMs)
    },
    work,
    ...(getSignal && { getSignal }),
    ...(chargedTo !== undefined && { caller: chargedTo }),
  }
}

/** What a page of an answer is held to, and how it names what must stay unnamed. */
export function pageBounds({ secret }: Pick<Deps, 'secret'>, work: Work): PageBounds {
  return { work, secret: secret() }
}

export interface PageBounds {
  readonly work: Work
  readonly secret: string
}
