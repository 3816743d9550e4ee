/** Rows of past versions, as parts of the statements that make the changes: they are there together or not at all. */
import type { StoredDocument } from '../../../plan/plan.ts'
import { textBeforeInsert } from '../../history.ts'
import { type JsonObject, parseTrusted } from '../../../base/json/json.ts'
import type { Statement } from '../../sql/fragment.ts'
import { arrayText } from '../../sql/postgres-dialect.ts'
import type { Table } from '../schema/catalogue.ts'
import type { Session } from '../connection/connections.ts'
import type { NewRow } from './rows.ts'

/** Whether changes of these documents are to be kept. */
export function keepsHistory({ past }: Table): boolean {
  return past?.since !== undefined
}

/**
 * The same rows, each with the change that it follows, and all in a version that is later than those. Should another
 * document of that `_id` come and go meanwhile, two changes follow the same one, which repeats a key.
 */
export async function following(
  rows: readonly NewRow[],
  table: Table,
  session: Session,
): Promise<readonly NewRow[]> {
  if (!keepsHistory(table) || rows.length === 0) return rows
  const text = `select id, max(version) from ${table.past!.name} where id = any($1::text[]) group by id order by id`
  const found = await session.query({ text, values: [arrayText(rows.map(({ key }) => key))] })
  const latest = new Map(found.map(([key, version]) => [key, Number(version)]))
  const version = Math.max(rows[0]!.document.version, ...[...latest.values()].map((each) => each + 1))
  return rows.map((row) => ({
    ...row,
    follows: latest.get(row.key) ?? 0,
    document: { ...row.document, version },
  }))
}

/** Of documents that are inserted as `$1`, or as the list `$1`, in version `$2` with `$3` paths. */
export function historyInserts(rows: readonly NewRow[], table: Table, used: number): Statement {
  const [first, ...others] = rows as readonly [NewRow, ...NewRow[]]
  const [a, b, c, d] = [1, 2, 3, 4].map((n) => `$${used + n}`)
  if (others.length === 0) {
    const text = `kept as (${into(table)} values ($1, ${a}, $2, 'insert', ${b}, $3, ${c}))`
    return { text, values: [String(first.follows), first.principal, idOnly(first)] }
  }
  const text = `kept as (${into(table)}
    select kept.id, kept.follows, $2::bigint, 'insert', ${a}::text, $3::integer, kept.doc
    from unnest(${b}::text[], ${c}::bigint[], ${d}::text[]) as kept(id, follows, doc))`
  const lists = [
    rows.map(({ key }) => key),
    rows.map(({ follows }) => String(follows)),
    rows.map((row) => idOnly(row)),
  ]
  return { text, values: [first.principal, ...lists.map(arrayText)] }
}

function idOnly({ document }: NewRow): string {
  return textBeforeInsert((parseTrusted(document.text) as JsonObject)['_id']!)
}

/** Of the document `$1` that `written` gives the key of: it was `$2` and is `$3`. */
export function historyUpdate(
  { seen, principal }: { readonly seen: StoredDocument; readonly principal: string },
  table: Table,
  used: number,
): Statement {
  const [a, b, c] = [1, 2, 3].map((n) => `$${used + n}`)
  const text = `kept as (${into(table)}
    select $1, $2::bigint, $3::bigint, 'update', ${a}::text, ${b}::integer, ${c}::text from written)`
  return { text, values: [principal, String(seen.paths ?? 0), seen.text] }
}

/** Of the document that `gone` gives. */
export function historyDelete(
  { principal, version }: { readonly principal: string; readonly version: number },
  table: Table,
  used: number,
): Statement {
  const text = `kept as (${into(table)}
    select gone.id, gone.version, $${used + 1}::bigint, 'delete', $${used + 2}::text, gone.paths, gone.doc from gone)`
  return { text, values: [String(version), principal] }
}

/** A document that went with an earlier statement. */
export interface DeletedRow {
  readonly key: string
  readonly seen: number
  readonly version: number
  readonly paths: number
  readonly text: string
}

export function historyDeletedStatement(
  gone: readonly DeletedRow[],
  principal: string,
  table: Table,
): Statement {
  const text = `${into(table)}
    select kept.id, kept.follows, kept.version, 'delete', $1::text, kept.paths, kept.doc
    from unnest($2::text[], $3::bigint[], $4::bigint[], $5::integer[], $6::text[])
      as kept(id, follows, version, paths, doc)`
  const lists = [
    gone.map(({ key }) => key),
    gone.map(({ seen }) => String(seen)),
    gone.map(({ version }) => String(version)),
    gone.map(({ paths }) => String(paths)),
    gone.map((each) => each.text),
  ]
  return { text, values: [principal, ...lists.map(arrayText)] }
}

function into({ past }: Table): string {
  return `insert into ${past!.name}(id, follows, version, operation, principal, paths, doc)`
}
