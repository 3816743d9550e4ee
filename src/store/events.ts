/** Changes that hooks watch: kept with the documents, in the same transaction, until nobody has to be told any more. */
import type { Bounds } from './store.ts'

/** What happened to a document. */
export type Action = 'insert' | 'update' | 'delete'

/** A watched change as it is kept. What a reader sees of it is worked out when they read. */
export interface KeptEvent {
  /** Rises from event to event of a store. A reader who saw one never misses one with a lower number. */
  readonly seq: number
  readonly id: string
  readonly entity: string
  readonly hook: string
  readonly operation: Action
  /** `_id` as text; events of one document come in the order of its changes. */
  readonly document: string
  /** When it was kept, in milliseconds since 1970. */
  readonly at: number
  /** JSON text, as whoever told of the change wrote it. */
  readonly details: string
  /** The whole document, as JSON text; null before an insert. */
  readonly before: string | null
  /** Null after a delete. */
  readonly after: string | null
}

export interface EventFilter {
  readonly entity?: string
  readonly hook?: string
  readonly operation?: Action
}

export interface EventsRequest {
  /** Exclusive. */
  readonly since: number
  readonly limit: number
  readonly filter: EventFilter
}

export interface KeptEvents {
  /** In the order of their numbers. */
  readonly events: readonly KeptEvent[]
  /** The number up to which all events were looked at: what to go on from. */
  readonly scannedTo: number
}

export interface EventLimits {
  /** Milliseconds since 1970; older ones may go. */
  readonly keptSince: number
  /** How many of the newest stay, whatever their age is not. */
  readonly keepCount: number
  /** Nothing after this number goes. */
  readonly notAfter: number
}

export interface EventStore {
  readEvents(request: EventsRequest, bounds: Bounds): Promise<KeptEvents>
  /** The numbers of the oldest event that is kept and of the newest; `last` is 0 when there never was one. */
  eventBounds(): Promise<{ readonly first: number; readonly last: number }>
  /** Calls back soon after events can be read, here or elsewhere; it only hastens, and may miss some. */
  onEvents(listener: () => void): void
  /** Tells how many went. */
  trimEvents(limits: EventLimits): Promise<number>
}
