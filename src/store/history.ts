/** Past versions of documents: what is kept of each change, and what that tells of the states between changes. */
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

/** A state of a document, or that it was deleted. */
export interface HistoryVersion {
  /** Microseconds since 1970, unless the clock was set back since the version before. */
  readonly version: number
  /** How it came to be; absent where that was before the past was kept. */
  readonly change?: { readonly operation: Action; readonly principal: string }
  /** The state; of a version that was deleted, the last state before. */
  readonly document: StoredDocument
}

/**
 * A change as it is kept: that of version `follows` to `version`. No two changes of a document follow the same one, so
 * they form a chain. An insert follows the last delete, or 0.
 */
export interface HistoryRow {
  readonly follows: number
  readonly version: number
  readonly operation: Action
  readonly principal: string
  /** The document before the change; of an insert only its `_id`. */
  readonly text: string
  /** See `StoredDocument`. */
  readonly paths?: number
}

/** The changes of one document in the order in which they follow each other, last the document as it is. */
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

/** The change that made a version, if it is the one that was kept last. */
function changeTo(version: number, last: HistoryRow | undefined): Pick<HistoryVersion, 'change'> {
  if (last?.version !== version) return {}
  const { operation, principal } = last
  return { change: { operation, principal } }
}

/** What is kept in place of a document that was not there before. */
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

/** A version as a date that sorts and has all its digits. */
export function printTimestamp(microseconds: number): string {
  const milliseconds = Math.floor(microseconds / 1000)
  const rest = String(microseconds - milliseconds * 1000).padStart(3, '0')
  return new Date(milliseconds).toISOString().replace('Z', `${rest}Z`)
}
