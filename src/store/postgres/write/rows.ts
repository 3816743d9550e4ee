/** Rows to be written: the document, its claims, and the records of the change for outbox and history. */
import type { JsonObject } from '../../../base/json/json.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import type { CaptureChange, OutboxEntry, StoredDocument, Write } from '../../../plan/plan.ts'
import type { Table } from '../schema/catalogue.ts'
import { claimsOf } from '../../layout/unique-claims.ts'
import type { Changed } from '../../layout/values.ts'
import { columnTexts } from '../schema/columns.ts'
import { idKey } from '../schema/indexes.ts'

/** Values that all documents written by one plan share. */
export interface Stamp {
  readonly version: number
  /** The number of paths of the collection, as known when the plan was made. */
  readonly paths: number
  /** Absent: no hook watches the entity. */
  readonly captureChange?: CaptureChange
  /** The principal of the caller. */
  readonly principal: string
}

/** A document to be inserted. */
export interface NewRow {
  readonly key: string
  readonly document: StoredDocument
  readonly claims: ReadonlySet<string>
  /** The values of its columns. */
  readonly columns: readonly (string | null)[]
  readonly outboxEntries: readonly OutboxEntry[]
  readonly principal: string
  /** The version of the change that it follows, if history is recorded. */
  readonly follows?: number
}

export function newRow(
  document: JsonObject,
  { version, paths, captureChange, principal }: Stamp,
  table: Table,
): NewRow {
  const id = document['_id']!
  const text = JSON.stringify(document)
  return {
    key: idKey(id),
    document: { id: typeof id === 'string' ? id : JSON.stringify(id), text, version, paths },
    claims: claimsIn(document, table),
    columns: columnTexts(document, table.layout),
    outboxEntries: captureChange?.({ operation: 'insert', after: document }) ?? [],
    principal,
  }
}

/** A document to be replaced, only if it still has the version that was read. */
export interface ChangedRow {
  readonly key: string
  readonly seen: StoredDocument
  readonly document: StoredDocument
  readonly released: ReadonlySet<string>
  readonly claimed: ReadonlySet<string>
  readonly change: Changed
  readonly outboxEntries: readonly OutboxEntry[]
  readonly principal: string
}

export function changedRow(
  { key, stored }: { readonly key: string; readonly stored: StoredDocument },
  { document, before }: Write,
  { stamp, table }: { readonly stamp: Stamp; readonly table: Table },
): ChangedRow {
  const claimsBefore = table.unique.size === 0 ? NONE : claimsIn(before ?? parsed(stored), table)
  const claimsAfter = claimsIn(document, table)
  return {
    key,
    seen: stored,
    // Versions of a document increase even if the clock was set back since its last write.
    document: {
      id: stored.id,
      version: Math.max(stamp.version, stored.version + 1),
      paths: Math.max(stamp.paths, stored.paths ?? 0),
      text: JSON.stringify(document),
    },
    released: claimsBefore.difference(claimsAfter),
    claimed: claimsAfter.difference(claimsBefore),
    change: { before, after: document },
    outboxEntries: stamp.captureChange?.({ operation: 'update', before: stored, after: document }) ?? [],
    principal: stamp.principal,
  }
}

function parsed({ text }: StoredDocument): JsonObject {
  return parseTrusted(text) as JsonObject
}

/** The claims of deleted documents. */
export function claimsOfTexts(texts: readonly string[], table: Table): ReadonlySet<string> {
  if (table.unique.size === 0) return NONE
  return new Set(texts.flatMap((text) => [...claimsIn(parseTrusted(text) as JsonObject, table)]))
}

function claimsIn(document: JsonObject, { unique }: Table): ReadonlySet<string> {
  return unique.size === 0 ? NONE : claimsOf(document, unique)
}

const NONE: ReadonlySet<string> = new Set()
