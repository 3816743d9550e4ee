/** Statements that write rows of documents and of their claims, many at a time. */
import type { StoredDocument } from '../../../plan/plan.ts'
import { type Fragment, type Statement, join, param, raw, sql } from '../../sql/fragment.ts'
import type { Table } from '../schema/catalogue.ts'
import {
  columnChanges,
  columnList,
  columnLists,
  columnTexts,
  columnValues,
  layoutToWrite,
} from '../schema/columns.ts'
import { historyOfDelete, historyOfInserts, historyOfUpdate, keepsHistory } from './history-rows.ts'
import {
  type CapturedChange,
  outboxOfDelete,
  outboxOfInsert,
  outboxOfInserts,
  outboxOfUpdate,
} from './outbox-rows.ts'
import type { ChangedRow, NewRow, Stamp } from './rows.ts'
import { type InsertParams, type UpdateParams, listParam, statementOf } from './statement.ts'

/** Documents, claims, outbox entries and history in one statement, so that all of them are written or none. */
export function insertStatement(rows: readonly NewRow[], table: Table): Statement {
  const inOrder = rows.toSorted(byKey)
  const params = insertParams(inOrder)
  const documents = insertDocuments(params, inOrder, table)
  const parts = [
    insertClaims(rows, table),
    outboxOf(rows, params),
    keepsHistory(table) ? historyOfInserts(inOrder, params, table) : undefined,
  ].filter((part) => part !== undefined)
  return statementOf(parts.length === 0 ? documents : sql`with ${join(parts, ', ')} ${documents}`)
}

/** All rows of a write have the same version and the same number of paths. */
function insertParams(rows: readonly NewRow[]): InsertParams {
  const [{ key, document }] = rows as readonly [NewRow]
  const common = { version: param(String(document.version)), paths: param(String(document.paths)) }
  if (rows.length === 1) return { ...common, keys: param(key), texts: param(document.text) }
  return {
    ...common,
    keys: listParam('text', rows, (row) => row.key),
    texts: textList(rows),
  }
}

/** One row is sent as values, which is faster than a list of one, and on a cluster is routed directly to its node. */
function insertDocuments(
  { keys, version, paths, texts }: InsertParams,
  rows: readonly NewRow[],
  { name, layout }: Table,
): Fragment {
  const into = sql`insert into ${raw(name)}(id, version, paths, doc${columnList(layout)})`
  if (rows.length === 1) {
    const columns = columnValues(rows[0]!.columns)
    return sql`${into} values (${keys}, ${version}, ${paths}, ${texts}${columns})`
  }
  const values = rows.map(({ columns }) => columns)
  const lists = columnLists(values, layout)
  const names = columnList(layout)
  return sql`${into}
    select id, ${version}::bigint, ${paths}::integer, doc${names}
    from unnest(${join([keys, texts, ...lists], ', ')}) as new(id, doc${names})`
}

function insertClaims(rows: readonly NewRow[], table: Table): Fragment | undefined {
  const claims = rows.flatMap(({ key, claims }) => [...claims].map((claim) => ({ claim, key }))).sort(byClaim)
  if (claims.length === 0) return undefined
  const values = listParam('text', claims, ({ claim }) => claim)
  const keys = listParam('text', claims, ({ key }) => key)
  return sql`claimed as (
    insert into ${raw(table.claims)}(key, doc) select key, doc from unnest(${values}, ${keys}) as new(key, doc))`
}

function outboxOf(rows: readonly NewRow[], params: InsertParams): Fragment | undefined {
  const captured = rows.filter(({ outboxEntries }) => outboxEntries.length > 0).map(capturedOf)
  if (captured.length === 0) return undefined
  return rows.length === 1 ? outboxOfInsert(captured[0]!, params) : outboxOfInserts(captured, params)
}

function capturedOf({ key, document, outboxEntries }: NewRow | ChangedRow): CapturedChange {
  return { key, document: document.id, outboxEntries }
}

/** Returns the key if the document still has the version that was read. */
export function updateStatement(row: ChangedRow, table: Table): Statement {
  return statementOf(updateOf(row, updateParams(row), table))
}

function updateParams({ key, seen, document }: ChangedRow): UpdateParams {
  return {
    key: param(key),
    seen: param(String(seen.version)),
    version: param(String(document.version)),
    text: param(document.text),
  }
}

function updateOf({ document, change }: ChangedRow, params: UpdateParams, { name, layout }: Table): Fragment {
  const { key, seen, version, text } = params
  const paths = param(String(document.paths))
  const written = layoutToWrite(layout, [change])
  const changes = columnChanges(columnTexts(change.after, written), written)
  return sql`update ${raw(name)} set version = ${version}, paths = ${paths}, doc = ${text}${changes}
    where id = ${key} and version = ${seen} returning id`
}

/** The same with the outbox entries and the history of the change. */
export function recordedUpdateStatement(row: ChangedRow, table: Table): Statement {
  const { seen, outboxEntries, principal } = row
  const params = updateParams(row)
  const update = updateOf(row, params, table)
  // Outbox and history record the same state; as a shared parameter it is sent once.
  const before = { params, text: param(seen.text), paths: seen.paths ?? 0 }
  return withParts(update, { name: 'written', columns: 'id' }, [
    outboxEntries.length === 0 ? undefined : outboxOfUpdate(capturedOf(row), before),
    keepsHistory(table) ? historyOfUpdate(before, principal, table) : undefined,
  ])
}

/** Combines a change that returns rows with the statements that record it. The result is the rows of the change. */
function withParts(
  change: Fragment,
  { name, columns }: { readonly name: string; readonly columns: string },
  parts: readonly (Fragment | undefined)[],
): Statement {
  const all = parts.filter((part) => part !== undefined)
  if (all.length === 0) return statementOf(change)
  const changed = sql`${raw(name)} as (${change})`
  return statementOf(sql`with ${join([changed, ...all], ', ')} select ${raw(columns)} from ${raw(name)}`)
}

/**
 * Texts of documents as one parameter. JSON contains no unescaped control characters, and without them JSON's quoting
 * is that of an array literal of PostgreSQL, and several times as fast.
 */
export function textList(rows: readonly { readonly document: StoredDocument }[]): Fragment {
  const texts = JSON.stringify(rows.map(({ document }) => document.text))
  return sql`${param(`{${texts.slice(1, -1)}}`)}::text[]`
}

/** Deletes documents that still have the version that was read; returns key and text, and paths for history. */
export function deleteStatement(
  rows: readonly { readonly key: string; readonly version: number }[],
  table: Table,
): Statement {
  const columns = raw(`stored.id, stored.doc${keepsHistory(table) ? ', stored.paths' : ''}`)
  const from = sql`delete from ${raw(table.name)} as stored`
  const [first, ...others] = rows
  // On a cluster this goes to one node, and waits for no other delete.
  if (first && others.length === 0) {
    return statementOf(sql`${from}
    where id = ${param(first.key)} and version = ${param(String(first.version))} returning ${columns}`)
  }
  const keys = listParam('text', rows, ({ key }) => key)
  const seen = listParam('bigint', rows, ({ version }) => String(version))
  return statementOf(sql`${from}
    using unnest(${keys}, ${seen}) as old(id, seen)
    where stored.id = old.id and stored.version = old.seen returning ${columns}`)
}

/** The same for one document, with its outbox entries and its history. */
export function recordedDeleteStatement(
  captured: CapturedChange,
  seen: number,
  { stamp, table }: { readonly stamp: Stamp; readonly table: Table },
): Statement {
  const columns = raw(`id, doc, version${keepsHistory(table) ? ', paths' : ''}`)
  const change = sql`delete from ${raw(table.name)} as stored
    where id = ${param(captured.key)} and version = ${param(String(seen))} returning ${columns}`
  const version = Math.max(stamp.version, seen + 1)
  return withParts(change, { name: 'gone', columns: 'id, doc' }, [
    captured.outboxEntries.length === 0 ? undefined : outboxOfDelete(captured),
    keepsHistory(table) ? historyOfDelete({ principal: stamp.principal, version }, table) : undefined,
  ])
}

export function claimStatement(claims: ReadonlySet<string>, key: string, table: Table): Statement {
  return statementOf(sql`insert into ${raw(table.claims)}(key, doc)
    select key, ${param(key)} from unnest(${listParam('text', [...claims].sort())}) as new(key)`)
}

/** Which of these claims some document has. */
export function claimedStatement(claims: ReadonlySet<string>, table: Table): Statement {
  return statementOf(
    sql`select key, doc from ${raw(table.claims)} where key = any(${listParam('text', [...claims].sort())})`,
  )
}

/**
 * Releases only claims of these documents: while an index is being built, a claim may already belong to
 * another document, because theirs are not entered yet.
 */
export function releaseStatement(claims: Iterable<string>, keys: readonly string[], table: Table): Statement {
  return statementOf(sql`delete from ${raw(table.claims)}
    where key = any(${listParam('text', [...claims].sort())}) and doc = any(${listParam('text', keys)})`)
}

/** All processes lock rows in the same order, so that no two of them deadlock. */
function byKey(a: { readonly key: string }, b: { readonly key: string }): number {
  return a.key < b.key ? -1 : 1
}

function byClaim(a: { readonly claim: string }, b: { readonly claim: string }): number {
  return a.claim < b.claim ? -1 : 1
}
