/** Rows about to be written: the document, the unique values that it claims, and what is recorded about the change. */
import type { JsonObject } from '../../../base/json/json.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import type { OutboxEntry, StoredDocument, CaptureChange } from '../../../plan/plan.ts'
import type { Table } from '../schema/catalogue.ts'
import { claimsOf } from '../schema/claims.ts'
import { idKey } from '../schema/indexes.ts'

/** What all documents that a plan writes have in common. */
export interface Stamp {
  readonly version: number
  /** How many paths the collection has, as far as the maker of the plan knows. */
  readonly paths: number
  /** Absent: nobody watches. */
  readonly captureChange?: CaptureChange
  /** Who writes. */
  readonly principal: string
}

/** A document about to be inserted. */
export interface NewRow {
  readonly key: string
  readonly document: StoredDocument
  readonly claims: ReadonlySet<string>
  readonly outboxEntries: readonly OutboxEntry[]
  readonly principal: string
  /** The change that it follows, where past versions are kept. */
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
    outboxEntries: captureChange?.({ operation: 'insert', after: document }) ?? [],
    principal,
  }
}

/** A document about to be replaced: only if it is still what was seen. */
export interface ChangedRow {
  readonly key: string
  readonly seen: StoredDocument
  readonly document: StoredDocument
  readonly released: ReadonlySet<string>
  readonly claimed: ReadonlySet<string>
  readonly outboxEntries: readonly OutboxEntry[]
  readonly principal: string
}

export function changedRow(
  { key, stored }: { readonly key: string; readonly stored: StoredDocument },
  document: JsonObject,
  { stamp, table }: { readonly stamp: Stamp; readonly table: Table },
): ChangedRow {
  const before = claimsIn(table.unique.size === 0 ? {} : (parseTrusted(stored.text) as JsonObject), table)
  const after = claimsIn(document, table)
  return {
    key,
    seen: stored,
    // Versions of a document rise also when the clock was set back since its last write.
    document: {
      id: stored.id,
      version: Math.max(stamp.version, stored.version + 1),
      paths: Math.max(stamp.paths, stored.paths ?? 0),
      text: JSON.stringify(document),
    },
    released: before.difference(after),
    claimed: after.difference(before),
    outboxEntries: stamp.captureChange?.({ operation: 'update', before: stored, after: document }) ?? [],
    principal: stamp.principal,
  }
}

/** The claims of documents that were deleted. */
export function claimsOfTexts(texts: readonly string[], table: Table): ReadonlySet<string> {
  if (table.unique.size === 0) return NONE
  return new Set(texts.flatMap((text) => [...claimsIn(parseTrusted(text) as JsonObject, table)]))
}

function claimsIn(document: JsonObject, { unique }: Table): ReadonlySet<string> {
  return unique.size === 0 ? NONE : claimsOf(document, unique)
}

const NONE: ReadonlySet<string> = new Set()
