/** History: the changes that are stored of each document, and the versions that follow from them. */
import { ServiceError } from '../base/errors.ts'
import type { Json } from '../base/json/json.ts'
import type { StoredDocument } from '../plan/plan.ts'
import type { Collection } from '../schema/schema.ts'
import type { TypeName } from '../schema/types.ts'
import type { Action } from './events.ts'

export interface HistoryRequest {
  readonly collection: Collection
  readonly id: Json
  readonly idType: TypeName
}

/** A version of a document; a deletion is one, too. */
export interface HistoryVersion {
  /** Microseconds since 1970, unless the clock was set back since the previous version. */
  readonly version: number
  /** The change that made this version; absent for a version that is older than the history. */
  readonly change?: { readonly operation: Action; readonly principal: string }
  /** The state of this version; for a deletion, the last state before it. */
  readonly document: StoredDocument
}

/**
 * A stored change from version `follows` to `version`. No two changes of a document follow the same version,
 * so they form a chain. An insert follows the last delete, or 0.
 */
export interface HistoryRow {
  readonly follows: number
  readonly version: number
  readonly operation: Action
  readonly principal: string
  /** The document before the change; for an insert only its `_id`. */
  readonly text: string
  /** See `StoredDocument`. */
  readonly paths?: number
}

/** Turns the chain of changes of one document, oldest first, and then its current state, into versions. */
export async function* versionsFrom(
  id: string,
  entries: AsyncIterable<HistoryRow | StoredDocument>,
): AsyncGenerator<HistoryVersion> {
  let last: HistoryRow | undefined
  for await (const entry of entries) {
    const isChange = 'follows' in entry
    const version = isChange ? entry.follows : entry.version
    const { text, paths } = entry
    const document = { id, version, text, ...(paths !== undefined && { paths }) }
    const isInsert = isChange && entry.operation === 'insert'
    if (!isInsert) yield { version, ...changeTo(version, last), document }
    if (!isChange) return
    last = entry
    if (entry.operation === 'delete')
      yield { version: entry.version, ...changeTo(entry.version, last), document }
  }
}

/** The change that made a version, if that is the last change read. There is none where history has a gap. */
function changeTo(version: number, last: HistoryRow | undefined): Pick<HistoryVersion, 'change'> {
  if (last?.version !== version) return {}
  const { operation, principal } = last
  return { change: { operation, principal } }
}

/** The text of an insert's history row: there is no earlier document. */
export function textBeforeInsert(id: Json): string {
  return JSON.stringify({ _id: id })
}

export function noHistory(entity: string): ServiceError {
  const message = `no past versions of ${entity} are kept; "history": true in its entity info keeps them from then on`
  return new ServiceError('crud:NoHistory', message)
}

export function beforeHistory(entity: string, since: number): ServiceError {
  const message = `the past of ${entity} is known only from ${printTimestamp(since)} on`
  return new ServiceError('crud:NoHistory', message)
}

/** A version as an ISO timestamp with microseconds, which sorts as text. */
export function printTimestamp(microseconds: number): string {
  const milliseconds = Math.floor(microseconds / 1000)
  const rest = String(microseconds - milliseconds * 1000).padStart(3, '0')
  return new Date(milliseconds).toISOString().replace('Z', `${rest}Z`)
}
