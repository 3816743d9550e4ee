/** Changes that hooks watch: kept with the documents, in the same transaction, until nobody has to be told any more. */
import type { Bounds } from './bounds.ts'

/** What happened to a document. */
export type Action = 'insert' | 'update' | 'delete'

/** A watched change as it is kept. What a reader sees of it is worked out when they read. */
export interface StoredEvent {
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

/** An event without the documents, which may be large. */
export interface EventHead extends Omit<StoredEvent, 'before' | 'after'> {
  /** The number of the event that holds the documents: events of one change share one copy of them. */
  readonly holder: number
  /** Of the documents before and after, together. */
  readonly bytes: number
}

export type EventStates = Pick<StoredEvent, 'before' | 'after'>

/** A range of numbers: after the first, up to the second. */
export interface EventRange {
  readonly after: number
  readonly upTo: number
}

/** An event as it moves to another store. One that shares the documents of another event comes without them. */
export interface ExportedEvent extends StoredEvent {
  readonly holder?: { readonly seq: number; readonly id: string }
}

/** So many events of one change share a copy of the documents, at most: they are removed together. */
export const MAX_SHARING = 100

/** The place, among the events of one change, of the one that holds the documents for this one. */
export function holderOf(index: number): number {
  return index - (index % MAX_SHARING)
}

/**
 * How many of the oldest events may go without taking the documents of one that stays. `groups` tells which events share
 * documents; events that do have numbers next to each other, the holder of the documents the lowest.
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
  /** In the order of their numbers. */
  readonly events: readonly StoredEvent[]
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
  readEvents(request: EventsRequest, bounds: Bounds): Promise<StoredEvents>
  /** The events of a range, in the order of their numbers; `upTo` must be one that the bounds have reached. */
  readHeads(range: EventRange, bounds: Bounds): Promise<readonly EventHead[]>
  /** The documents that these events hold; those of an event that is gone are missing. */
  readStates(holders: readonly number[], bounds: Bounds): Promise<ReadonlyMap<number, EventStates>>
  /** The numbers of the oldest event that is kept and of the newest; `last` is 0 when there never was one. */
  eventBounds(): Promise<{ readonly first: number; readonly last: number }>
  /** Calls back soon after events can be read, here or elsewhere; it only hastens, and may miss some. */
  onEvents(listener: () => void): void
  /** Tells how many went. */
  trimEvents(limits: EventLimits): Promise<number>
}
