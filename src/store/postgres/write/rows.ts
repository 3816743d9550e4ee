/** Rows of documents and of their claims: the statements that write them, many at a time. */
import { type JsonObject, parseTrusted } from '../../../base/json/json.ts'
import type { OutboxEntry, StoredDocument, CaptureChange } from '../../../plan/plan.ts'
import type { Statement } from '../../sql/fragment.ts'
import { arrayText } from '../../sql/postgres-dialect.ts'
import type { Table } from '../schema/catalogue.ts'
import { claimsOf } from '../schema/claims.ts'
import { idKey } from '../schema/indexes.ts'
import { keepsHistory, historyDelete, historyInserts, historyUpdate } from './history-rows.ts'
import {
  type CapturedChange,
  outboxDelete,
  outboxInsert,
  outboxInserts,
  outboxUpdate,
} from './outbox-rows.ts'

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

/** Documents, claims and what is told of them in one statement, so that either all of it is there or nothing. */
export function insertStatement(rows: readonly NewRow[], table: Table): Statement {
  const documents = documentsStatement(rows.toSorted(byKey), table)
  const used = documents.values.length
  const claims = claimsPart(rows, table, used)
  const captured = outboxPart(rows, used + claims.values.length)
  const before = used + claims.values.length + captured.values.length
  const kept = keepsHistory(table) ? historyInserts(rows, table, before) : NO_PART
  const parts = [claims, captured, kept].filter(({ text }) => text !== '')
  if (parts.length === 0) return documents
  const text = `with ${parts.map((part) => part.text).join(', ')}
    ${documents.text}`
  return { text, values: [documents, ...parts].flatMap(({ values }) => values) }
}

const NO_PART: Statement = { text: '', values: [] }

function claimsPart(rows: readonly NewRow[], table: Table, used: number): Statement {
  const claims = rows.flatMap(({ key, claims }) => [...claims].map((claim) => ({ claim, key }))).sort(byClaim)
  if (claims.length === 0) return NO_PART
  const text = `claimed as (
    insert into ${table.claims}(key, doc)
    select key, doc from unnest($${used + 1}::text[], $${used + 2}::text[]) as new(key, doc))`
  return {
    text,
    values: [arrayText(claims.map(({ claim }) => claim)), arrayText(claims.map(({ key }) => key))],
  }
}

function outboxPart(rows: readonly NewRow[], used: number): Statement {
  const captured = rows.filter(({ outboxEntries }) => outboxEntries.length > 0).map(capturedOf)
  if (captured.length === 0) return NO_PART
  return rows.length === 1 ? outboxInsert(captured[0]!, used) : outboxInserts(captured, used)
}

function capturedOf({ key, document, outboxEntries }: NewRow | ChangedRow): CapturedChange {
  return { key, document: document.id, outboxEntries }
}

/** One row is told as it is, which is quicker than a list of one, and on a cluster reaches its node directly. */
function documentsStatement(rows: readonly NewRow[], table: Table): Statement {
  const [{ key, document }] = rows as readonly [NewRow]
  const { version, paths, text } = document
  const into = `insert into ${table.name}(id, version, paths, doc)`
  if (rows.length === 1) {
    return { text: `${into} values ($1, $2, $3, $4)`, values: [key, String(version), String(paths), text] }
  }
  return {
    text: `${into}
    select id, $2::bigint, $3::integer, doc from unnest($1::text[], $4::text[]) as new(id, doc)`,
    values: [arrayText(rows.map((row) => row.key)), String(version), String(paths), textsOf(rows)],
  }
}

/** Gives back the key when the document was still what was seen. */
export function updateStatement(row: ChangedRow, table: Table): Statement {
  const { key, seen, document, outboxEntries, principal } = row
  const text = `update ${table.name} set version = $3, paths = $4, doc = $5
    where id = $1 and version = $2 returning id`
  const { version, paths } = document
  const values = [key, String(seen.version), String(version), String(paths), document.text]
  return withParts({ text, values }, { name: 'written', columns: 'id' }, [
    ...(outboxEntries.length === 0 ? [] : [(used: number) => outboxUpdate(capturedOf(row), seen.text, used)]),
    ...(keepsHistory(table) ? [(used: number) => historyUpdate({ seen, principal }, table, used)] : []),
  ])
}

/** A change that gives rows, and what is entered of those that it gave; the answer is those rows. */
function withParts(
  change: Statement,
  { name, columns }: { readonly name: string; readonly columns: string },
  parts: readonly ((used: number) => Statement)[],
): Statement {
  if (parts.length === 0) return change
  const values = [...change.values]
  const texts = parts.map((part) => {
    const made = part(values.length)
    values.push(...made.values)
    return made.text
  })
  return {
    text: `with ${name} as (${change.text}), ${texts.join(', ')} select ${columns} from ${name}`,
    values,
  }
}

/**
 * Texts of documents in PostgreSQL's notation for arrays. JSON holds no control characters as such, and without them
 * JSON's way to quote is the same, and several times as fast.
 */
function textsOf(rows: readonly { readonly document: StoredDocument }[]): string {
  return `{${JSON.stringify(rows.map(({ document }) => document.text)).slice(1, -1)}}`
}

/** The same for documents that go; gives back their texts too, and what else past versions need. */
export function deleteStatement(
  rows: readonly { readonly key: string; readonly version: number }[],
  table: Table,
): Statement {
  const text = `delete from ${table.name} as stored
    using unnest($1::text[], $2::bigint[]) as old(id, seen)
    where stored.id = old.id and stored.version = old.seen returning stored.id, stored.doc${keepsHistory(table) ? ', stored.paths' : ''}`
  const keys = arrayText(rows.map(({ key }) => key))
  return { text, values: [keys, arrayText(rows.map(({ version }) => String(version)))] }
}

/** The same for one document that somebody watches, or whose past is kept. */
export function enteredDeleteStatement(
  captured: CapturedChange,
  seen: number,
  { stamp, table }: Entering,
): Statement {
  const columns = `id, doc, version${keepsHistory(table) ? ', paths' : ''}`
  const text = `delete from ${table.name} as stored where id = $1 and version = $2 returning ${columns}`
  const { principal } = stamp
  const version = Math.max(stamp.version, seen + 1)
  return withParts({ text, values: [captured.key, String(seen)] }, { name: 'gone', columns: 'id, doc' }, [
    ...(captured.outboxEntries.length === 0 ? [] : [(used: number) => outboxDelete(captured, used)]),
    ...(keepsHistory(table) ? [(used: number) => historyDelete({ principal, version }, table, used)] : []),
  ])
}

interface Entering {
  readonly stamp: Stamp
  readonly table: Table
}

export function claimStatement(claims: ReadonlySet<string>, key: string, table: Table): Statement {
  const text = `insert into ${table.claims}(key, doc) select key, $2 from unnest($1::text[]) as new(key)`
  return { text, values: [arrayText([...claims].sort()), key] }
}

/** Only claims of these documents: while an index is built, those of others may stand where theirs are still to come. */
export function releaseStatement(claims: Iterable<string>, keys: readonly string[], table: Table): Statement {
  const text = `delete from ${table.claims} where key = any($1::text[]) and doc = any($2::text[])`
  return { text, values: [arrayText([...claims].sort()), arrayText(keys)] }
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

/** Everybody takes locks in the same order, so that nobody waits for somebody who waits for them. */
function byKey(a: { readonly key: string }, b: { readonly key: string }): number {
  return a.key < b.key ? -1 : 1
}

function byClaim(a: { readonly claim: string }, b: { readonly claim: string }): number {
  return a.claim < b.claim ? -1 : 1
}
