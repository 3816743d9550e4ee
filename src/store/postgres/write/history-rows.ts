/** Rows of history, as parts of the statements that make the changes: both are committed together or not at all. */
import type { JsonObject } from '../../../base/json/json.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import type { StoredDocument } from '../../../plan/plan.ts'
import { textBeforeInsert } from '../../history.ts'
import { type Fragment, type Statement, join, param, raw, sql } from '../../sql/fragment.ts'
import type { Table } from '../schema/catalogue.ts'
import type { SqlSession } from '../connection/connection.ts'
import type { NewRow, Stamp } from './rows.ts'
import { type InsertParams, type UpdateParams, listParam, statementOf } from './statement.ts'

/** Whether changes of these documents are recorded in history. */
export function keepsHistory({ past }: Table): boolean {
  return past?.since !== undefined
}

/**
 * Adds to each row the version of the change that it follows, and gives all rows a version later than those.
 * If another document with the same `_id` is inserted and deleted meanwhile, two changes follow the same one,
 * and the statement fails with a repeated key.
 */
export async function following(
  rows: readonly NewRow[],
  table: Table,
  session: SqlSession,
): Promise<readonly NewRow[]> {
  if (!keepsHistory(table) || rows.length === 0) return rows
  const keys = listParam('text', rows, ({ key }) => key)
  const found = await session.query(
    statementOf(
      sql`select id, max(version) from ${raw(table.past!.name)} where id = any(${keys}) group by id order by id`,
    ),
  )
  const latest = new Map(found.map(([key, version]) => [key, Number(version)]))
  const version = Math.max(rows[0]!.document.version, ...[...latest.values()].map((each) => each + 1))
  return rows.map((row) => ({
    ...row,
    follows: latest.get(row.key) ?? 0,
    document: { ...row.document, version },
  }))
}

/** For documents that are inserted; if there are several, in the order of `params.keys`. */
export function historyOfInserts(
  rows: readonly NewRow[],
  { keys, version, paths }: InsertParams,
  table: Table,
): Fragment {
  const [first, ...others] = rows as readonly [NewRow, ...NewRow[]]
  const principal = param(first.principal)
  if (others.length === 0) {
    const follows = param(String(first.follows))
    return sql`recorded as (${into(table)} values (
      ${keys}, ${follows}, ${version}, 'insert', ${principal}, ${paths}, ${param(idOnly(first))}))`
  }
  const follows = listParam('bigint', rows, (row) => String(row.follows))
  const texts = listParam('text', rows, idOnly)
  return sql`recorded as (${into(table)}
    select change.id, change.follows, ${version}::bigint, 'insert', ${principal}::text, ${paths}::integer, change.doc
    from unnest(${keys}, ${follows}, ${texts}) as change(id, follows, doc))`
}

/** The document before its insert: only its `_id`. */
export function idOnly({ document }: NewRow): string {
  return textBeforeInsert((parseTrusted(document.text) as JsonObject)['_id']!)
}

/** The state of a document before an update. */
interface Before {
  readonly params: UpdateParams
  readonly text: Fragment
  readonly paths: number
}

/** For the document whose key `written` returns. */
export function historyOfUpdate({ params, text, paths }: Before, principal: string, table: Table): Fragment {
  const { key, seen, version } = params
  return sql`recorded as (${into(table)}
    select ${key}, ${seen}::bigint, ${version}::bigint, 'update', ${param(principal)}::text,
      ${param(String(paths))}::integer, ${text}::text from written)`
}

/** For the document that `gone` returns. */
export function historyOfDelete(
  { principal, version }: { readonly principal: string; readonly version: number },
  table: Table,
): Fragment {
  return sql`recorded as (${into(table)}
    select gone.id, gone.version, ${param(String(version))}::bigint, 'delete', ${param(principal)}::text,
      gone.paths, gone.doc from gone)`
}

/** A document that an earlier statement deleted. */
export interface DeletedRow {
  readonly key: string
  readonly seen: number
  readonly version: number
  readonly paths: number
  readonly text: string
}

/** In history, a delete has a version too, later than the one that it replaces even if the clock was set back. */
export function deletedRow(
  key: string,
  { version: seen, text, paths = 0 }: Pick<StoredDocument, 'version' | 'text' | 'paths'>,
  stamp: Stamp,
): DeletedRow {
  return { key, text, paths, seen, version: Math.max(stamp.version, seen + 1) }
}

export function historyDeletedStatement(
  deleted: readonly DeletedRow[],
  principal: string,
  table: Table,
): Statement {
  const lists = [
    listParam('text', deleted, ({ key }) => key),
    listParam('bigint', deleted, ({ seen }) => String(seen)),
    listParam('bigint', deleted, ({ version }) => String(version)),
    listParam('integer', deleted, ({ paths }) => String(paths)),
    listParam('text', deleted, ({ text }) => text),
  ]
  return statementOf(sql`${into(table)}
    select change.id, change.follows, change.version, 'delete', ${param(principal)}::text, change.paths, change.doc
    from unnest(${join(lists, ', ')}) as change(id, follows, version, paths, doc)`)
}

function into({ past }: Table): Fragment {
  return raw(`insert into ${past!.name}(${HISTORY_COLUMNS})`)
}

export const HISTORY_COLUMNS = 'id, follows, version, operation, principal, paths, doc'
