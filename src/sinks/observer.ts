/** Told what happens to sinks, for metrics and logs; nothing of it holds a secret. */
import type { Overview } from './delivery/delivery-state.ts'

export interface Observer {
  delivered?(sink: string, seconds: number): void
  failed?(sink: string, reason: string): void
  /** Every second, from whoever delivers. */
  state?(sink: string, overview: Overview): void
  /** From here on another process tells of it, or nobody. */
  left?(sink: string): void
  /** What should not happen: a store that is away, a definition that cannot be used. */
  error?(error: unknown, sink?: string): void
}
