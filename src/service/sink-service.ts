/** Operations on sinks, as functions of a caller and a request. */
import type { Caller } from '../access/caller.ts'
import type { Json } from '../base/json/json.ts'
import type { Work } from '../base/work/work.ts'
import type { StoredEvent } from '../store/events.ts'
import type { Idempotency, OnceAnswer } from './idempotency.ts'
import type { JsonText } from './response.ts'

/** They throw ServiceErrors; the caller receives the bare error object. */
export interface SinkOperations {
  create(caller: Caller, body: Json | undefined): Promise<Json>
  list(caller: Caller): Promise<Json>
  get(caller: Caller, name: string): Promise<Json>
  replace(caller: Caller, name: string, body: Json | undefined): Promise<Json>
  remove(caller: Caller, name: string): Promise<Json>
  /** Dead letters, by `since` and `limit`. */
  dead(caller: Caller, name: string, page: Budgeted & { readonly parameters: URLSearchParams }): Promise<Json>
  inspect(caller: Caller, name: string, letter: Budgeted & { readonly eventId: string }): Promise<Json>
  /** Redrives one dead letter, or all of them. */
  redrive(caller: Caller, name: string, eventId?: string): Promise<Json>
  discard(caller: Caller, name: string, eventId: string): Promise<Json>
}

interface Budgeted {
  /** The budget of the request. */
  readonly work?: Work
}

export interface SinkService extends SinkOperations {
  /** A change with an idempotency key; `about` names the sink, or is the body of a new one. */
  once(caller: Caller, change: SinkChange, idempotency: Idempotency): Promise<OnceAnswer>
  /** What a sink with the rights of the caller is sent: what worker threads do for `renderLargeBy`. */
  render(event: SinkEvent, caller: Caller): JsonText
  /** From now on, large events are rendered by `render`; by this thread if it is undefined. */
  renderLargeBy(render: RenderForSink | undefined): void
}

/** An event with its documents. */
export type SinkEvent = StoredEvent

/** Returns a CloudEvent as JSON; empty if nothing of the event is visible to the caller. */
export type RenderForSink = (event: SinkEvent, caller: Caller, signal: AbortSignal) => Promise<JsonText>

export interface SinkChange {
  readonly about: { readonly name: string } | { readonly body: Json | undefined }
  readonly run: (sinks: SinkOperations) => Promise<Json>
}
