/** What operations need from outside, each as an argument: no operation reaches for a clock or a store by itself. */
import type { Limits } from '../base/limits.ts'
import type { Hook } from '../metadata/hooks.ts'
import type { Schema } from '../schema/schema.ts'
import type { Bounds, Store, StoreSession } from '../store/store.ts'

export interface Deps {
  readonly schemaOf: (entity: string, version: string | undefined) => Schema
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
  readonly store: Store
  /** What marks of hidden documents are made with. */
  readonly secret: () => string
  readonly limits: Limits
  readonly now: () => Date
  readonly onInternalError: (error: unknown) => void
}

/** The signal that is aborted when the caller hangs up. */
export type HangUp = () => AbortSignal

/** How long a request may take: its own wish, but never more than the limit; and not at all once nobody waits. */
export function boundsOf(
  { limits }: Deps,
  {
    maxTimeMs = Infinity,
    hangUp,
  }: { readonly maxTimeMs?: number | undefined; readonly hangUp?: HangUp | undefined },
): Bounds {
  return { timeLimitMs: Math.min(maxTimeMs, limits.queryTimeMs), ...(hangUp && { hangUp }) }
}

/** What a page of an answer is held to, and how it names what must stay unnamed. */
export function pageBounds({ limits, secret }: Deps): { readonly maxBytes: number; readonly secret: string } {
  return { maxBytes: limits.resultBytes, secret: secret() }
}
