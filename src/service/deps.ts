/** What operations need from outside, each as an argument: no operation reaches for a clock or a store by itself. */
import type { Limits } from '../base/limits.ts'
import type { Schema } from '../schema/schema.ts'
import type { Bounds, Store, StoreSession } from '../store/store.ts'

export interface Deps {
  readonly schemaOf: (entity: string, version: string | undefined) => Schema
  readonly storeOf: (schema: Schema) => StoreSession
  /** Where transactions over several requests run. */
  readonly store: Store
  readonly limits: Limits
  readonly now: () => Date
  readonly onInternalError: (error: unknown) => void
}

/** The signal that is aborted when the caller hangs up. */
export type HangUp = () => AbortSignal

/** How long a request may take: its own wish, but never more than the limit; and not at all once nobody waits. */
export function boundsOf(
  { limits }: Deps,
  { maxTimeMs = Infinity, hangUp }: { readonly maxTimeMs?: number; readonly hangUp?: HangUp },
): Bounds {
  return { timeLimitMs: Math.min(maxTimeMs, limits.queryTimeMs), ...(hangUp && { hangUp }) }
}
