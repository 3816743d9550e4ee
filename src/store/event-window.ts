/** How much one reading of events takes in, whatever it looks for. */
import type { EventFilter, EventsRequest, StoredEvent } from './events.ts'

/** Rare matches are looked for a part at a time, so that nobody waits for them without being told how far it got. */
const LOOKED_AT_PER_MATCH = 10

/** How many events are looked at. */
export function windowOf({ limit, filter }: EventsRequest): number {
  return Object.values(filter).some((wanted) => wanted !== undefined) ? limit * LOOKED_AT_PER_MATCH : limit
}

/** An answer ends with the event that reaches this many characters of documents, so that it fits into memory. */
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
