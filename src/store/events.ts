/** Events: changes that hooks watch. They are stored in the transaction of the change, until retention removes them. */
import type { Bounds } from './bounds.ts'

export type Action = 'insert' | 'update' | 'delete'

/** A captured change as it is stored. Access is evaluated when an event is read, not when it is stored. */
export interface StoredEvent {
  /**
   * Increases from event to event of a store. Events become readable in this order: a reader of one number
   * never misses a lower one.
   */
  readonly seq: number
  readonly id: string
  readonly entity: string
  readonly hook: string
  readonly operation: Action
  /** `_id` as text. Events of one document are in the order of its changes. */
  readonly document: string
  /** When the change was captured, in milliseconds since 1970. */
  readonly at: number
  /** JSON text from `captureChange`; the store does not parse it. */
  readonly details: string
  /** The document before the change, as JSON text; null for an insert. */
  readonly before: string | null
  /** The document after the change; null for a delete. */
  readonly after: string | null
}

/** An event without its documents, which may be large. */
export interface EventHead extends Omit<StoredEvent, 'before' | 'after'> {
  /** The `seq` of the event that stores the documents: events of one change share one copy. */
  readonly holder: number
  /** The size of both documents together. */
  readonly bytes: number
}

export type EventStates = Pick<StoredEvent, 'before' | 'after'>

/** A range of event numbers: `after` is exclusive, `upTo` inclusive. */
export interface EventRange {
  readonly after: number
  readonly upTo: number
}

/**
 * An event in a move to another store. An event that shares the documents of another one has no copy of them.
 */
export interface ExportedEvent extends StoredEvent {
  readonly holder?: { readonly seq: number; readonly id: string }
}

/**
 * At most this many events of one change share a copy of the documents, because they are removed together.
 */
export const MAX_SHARING = 100

/** The index, among the events of one change, of the event that stores the documents for this one. */
export function holderOf(index: number): number {
  return index - (index % MAX_SHARING)
}

/**
 * How many of the oldest events can be removed without removing documents that a remaining event shares.
 * Events with equal `groups` share documents; their numbers are adjacent, and the lowest one stores the
 * documents.
 */
export function removable(groups: readonly (number | string)[], most: number): number {
  let count = most
  while (count > 0 && groups[count] === groups[count - 1]) count--
  return count
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

export interface StoredEvents {
  /** Ordered by `seq`. */
  readonly events: readonly StoredEvent[]
  /** All events up to this number were scanned: the next read starts after it. */
  readonly scannedTo: number
}

export interface EventLimits {
  /** Milliseconds since 1970; older events may be removed. */
  readonly keptSince: number
  /** Keep at most this many events, newest first, even if they are younger than the age limit. */
  readonly keepCount: number
  /** Events after this number are never removed. */
  readonly notAfter: number
}

export interface EventStore {
  readEvents(request: EventsRequest, bounds: Bounds): Promise<StoredEvents>
  /** The events of a range, ordered by `seq`; `upTo` must not exceed `last` of `eventBounds`. */
  readHeads(range: EventRange, bounds: Bounds): Promise<readonly EventHead[]>
  /** The documents that these events store. Events that were removed are missing from the map. */
  readStates(holders: readonly number[], bounds: Bounds): Promise<ReadonlyMap<number, EventStates>>
  /** The numbers of the oldest and the newest stored event; `last` is 0 when there never was one. */
  eventBounds(): Promise<{ readonly first: number; readonly last: number }>
  /** Registers a callback for new events of any process. Notifications can be lost, so listeners must also poll. */
  onEvents(listener: () => void): void
  /** Removes old events and returns their number. */
  trimEvents(limits: EventLimits): Promise<number>
}
