/** Renders events as CloudEvents 1.0, structured mode. */
import { type Json, type JsonObject, member } from '../base/json/json.ts'
import type { StoredEvent } from '../store/events.ts'

/** `seen` is the event with the sink's visibility applied. */
export function cloudEvent({ id, entity, operation, at }: StoredEvent, seen: JsonObject): JsonObject {
  const subject = subjectOf(member(seen, 'documentId'))
  return {
    specversion: '1.0',
    id,
    source: `/entities/${encodeURIComponent(entity)}`,
    type: `smalt.${operation}`,
    ...(subject !== undefined && { subject }),
    time: new Date(at).toISOString(),
    datacontenttype: 'application/json',
    data: seen,
  }
}

/** CloudEvents requires a subject to be a non-empty string. */
function subjectOf(documentId: Json | undefined): string | undefined {
  if (documentId === undefined || documentId === '') return undefined
  return typeof documentId === 'string' ? documentId : JSON.stringify(documentId)
}
