/** Limits for one read of events. They bound its duration and memory, whatever its filter. */
import type { EventFilter, EventsRequest, StoredEvent } from './events.ts'

/**
 * A filtered read scans at most this many events per requested match. When matches are rare, it returns early
 * and reports its position, so that its caller is not blocked.
 */
const LOOKED_AT_PER_MATCH = 10

/** The number of events that one read scans. */
export function windowOf({ limit, filter }: EventsRequest): number {
  return Object.values(filter).some((wanted) => wanted !== undefined) ? limit * LOOKED_AT_PER_MATCH : limit
}

/** A read ends with the event that reaches this many characters of documents, so that the result fits into memory. */
export const EVENT_CHARACTERS = 16_000_000

export function isWanted(
  { entity, hook, operation }: EventFilter,
  event: Pick<StoredEvent, 'entity' | 'hook' | 'operation'>,
): boolean {
  return (
    (entity === undefined || event.entity === entity) &&
    (hook === undefined || event.hook === hook) &&
    (operation === undefined || event.operation === operation)
  )
}
