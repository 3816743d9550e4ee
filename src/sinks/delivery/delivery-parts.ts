/**
 * The state of a delivery in progress, shared by the code that sends events and the code that records
 * results.
 */
import type { StoredEvent } from '../../store/events.ts'
import type { SinkItem, SinkProgress } from '../../store/sinks.ts'
import type { DocumentQueues } from './document-queues.ts'
import type { Undelivered } from './undelivered.ts'

/**
 * Circuit breaker: after this many consecutive failures the receiver is considered broken, not a single
 * event.
 */
export const CIRCUIT_OPENS_AFTER = 5

export interface DeliveryParts {
  progress: SinkProgress
  savedProgress: SinkProgress
  readonly undelivered: Undelivered
  readonly queues: DocumentQueues
  readonly underWay: Map<number, UnderWay>
  /** How many events were read since the circuit opened that cannot be probes, because their documents wait. */
  setAside: number
}

export interface UnderWay {
  readonly doc: string
  readonly isRetry: boolean
  /** Sent to test whether a broken receiver has recovered. */
  readonly isProbe: boolean
}

export function isCircuitOpen({ progress }: DeliveryParts): boolean {
  return progress.failures >= CIRCUIT_OPENS_AFTER
}

/** Unique across entities, because entity names contain no slash. */
export function docOf({ entity, document }: StoredEvent): string {
  return `${entity}/${document}`
}

/** An item for an event without attempts; it is due immediately. */
export function waitingItem(event: StoredEvent): SinkItem {
  const { seq, at } = event
  return { seq, doc: docOf(event), state: 'waiting', attempts: 0, nextAt: 0, error: '', at }
}
