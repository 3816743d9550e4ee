/** How an event gets to where it is awaited; each kind of sink has one of these. */
import type { JsonObject } from '../base/json/json.ts'

export interface Transport extends AsyncDisposable {
  /** Does not throw: what goes wrong is an answer, except that one that is called off has none. */
  send(message: Message, signal: AbortSignal): Promise<Answer>
}

export interface Message {
  /** Of the event: the same however often it is sent. */
  readonly id: string
  /** A CloudEvent in its structured form. */
  readonly body: JsonObject
}

export type Answer =
  | { readonly kind: 'delivered' }
  /** Nothing that the sink may see happened, so that nothing was sent. */
  | { readonly kind: 'unseen' }
  | { readonly kind: 'failed'; readonly reason: string }
  /** The receiver wants no more, ever. */
  | { readonly kind: 'gone'; readonly reason: string }
