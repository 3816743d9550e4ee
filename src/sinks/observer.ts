/** Callbacks for metrics and logs of sinks. No argument contains a secret. */
import type { Overview } from './delivery/delivery-state.ts'

export interface Observer {
  delivered?(sink: string, seconds: number): void
  failed?(sink: string, reason: string): void
  /** Called every second by the process that delivers to the sink. */
  state?(sink: string, overview: Overview): void
  /** This process no longer delivers to the sink; another process may report on it from now on. */
  left?(sink: string): void
  /** Unexpected errors, such as an unavailable store or an unusable definition. */
  error?(error: unknown, sink?: string): void
}
