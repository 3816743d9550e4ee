/** What is known of a delivery while it goes on: shared by what sends and by what becomes of it. */
import type { StoredEvent } from '../../store/events.ts'
import type { SinkItem, SinkProgress } from '../../store/sinks.ts'
import type { DocumentQueues } from './document-queues.ts'
import type { Undelivered } from './undelivered.ts'

/** So many failures in a row, and it is the receiver that is out of order, rather than an event. */
export const BREAKS_AT = 5

export interface DeliveryParts {
  progress: SinkProgress
  savedProgress: SinkProgress
  readonly left: Undelivered
  readonly lines: DocumentQueues
  readonly underWay: Map<number, UnderWay>
}

export interface UnderWay {
  readonly doc: string
  readonly isRetry: boolean
  /** Begun to find out whether the receiver is well again. */
  readonly isProbe: boolean
}

export function isBroken({ progress }: DeliveryParts): boolean {
  return progress.failures >= BREAKS_AT
}

/** Names of entities have no slash. */
export function docOf({ entity, document }: StoredEvent): string {
  return `${entity}/${document}`
}

/** One that was not tried yet, and may be at once. */
export function waitingItem(event: StoredEvent): SinkItem {
  const { seq, at } = event
  return { seq, doc: docOf(event), state: 'waiting', attempts: 0, nextAt: 0, error: '', at }
}
