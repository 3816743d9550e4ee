/** Sends an event to a receiver; each kind of sink has one implementation. */
import type { StoredEvent } from '../store/events.ts'

export interface Transport extends AsyncDisposable {
  /** Returns failures as an answer. Rejects only when it is aborted. */
  send(message: Message, signal: AbortSignal): Promise<Answer>
}

/** The id is that of the event, the same for every attempt. */
export interface Message extends Pick<StoredEvent, 'id' | 'entity' | 'operation'> {
  /** A CloudEvent in structured mode, as JSON. */
  readonly body: string
}

export type Answer =
  | { readonly kind: 'delivered' }
  /** The sink may see nothing of the event, so nothing was sent. */
  | { readonly kind: 'invisible' }
  /** The event could not be rendered at the moment, so nothing was sent. */
  | { readonly kind: 'postponed' }
  | { readonly kind: 'failed'; readonly reason: string }
  /** The receiver wants no further events, so the sink is disabled. */
  | { readonly kind: 'gone'; readonly reason: string }
