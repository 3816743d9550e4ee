/** What operations need from outside, each as an argument: no operation reaches for a clock or a store by itself. */
import type { Limits } from '../base/limits.ts'
import type { Schema } from '../schema/schema.ts'
import type { Store, StoreSession } from '../store/store.ts'

export interface Deps {
  readonly schemaOf: (entity: string, version: string | undefined) => Schema
  readonly storeOf: (schema: Schema) => StoreSession
  /** Where transactions over several requests run. */
  readonly store: Store
  readonly limits: Limits
  readonly now: () => Date
  readonly onInternalError: (error: unknown) => void
}
