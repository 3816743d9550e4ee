/** Sends an event to a receiver; each kind of sink has one implementation. */
import type { JsonObject } from '../base/json/json.ts'

export interface Transport extends AsyncDisposable {
  /** Returns failures as an answer. Rejects only when it is aborted. */
  send(message: Message, signal: AbortSignal): Promise<Answer>
}

export interface Message {
  /** The id of the event; the same for every attempt. */
  readonly id: string
  /** A CloudEvent in structured mode. */
  readonly body: JsonObject
}

export type Answer =
  | { readonly kind: 'delivered' }
  /** The sink may see nothing of the event, so nothing was sent. */
  | { readonly kind: 'invisible' }
  | { readonly kind: 'failed'; readonly reason: string }
  /** The receiver wants no further events, so the sink is disabled. */
  | { readonly kind: 'gone'; readonly reason: string }
