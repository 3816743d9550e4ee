/** Translates read plans to statements, and caches prepared statements by their text. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { evictFirst } from '../../../base/memo.ts'
import type { Query } from '../../../lang/query.ts'
import { type FieldRef, sortsByOthers } from '../../../lang/resolve/scope.ts'
import type { ReadPlan, StoredDocument } from '../../../plan/plan.ts'
import type { TypeName } from '../../../schema/types.ts'
import {
  type Fragment,
  type PreparedStatement,
  type Statement,
  join,
  param,
  prepare,
  raw,
  render,
  sql,
} from '../../sql/fragment.ts'
import { type BoundRead, type WrittenRead, bindRead, writtenOnce } from '../../sql/prepared-statement.ts'
import { joinedColumns, joinedFrom } from '../../sql/joined.ts'
import { mentionsOthers } from '../../sql/joining.ts'
import { orderBy } from '../../sql/order-by.ts'
import { type KeysetRange, afterKeys, afterRow, servedKeys, rangesAfter } from '../../sql/keyset.ts'
import { SQLITE, bind } from '../../sql/sqlite-dialect.ts'
import type { Translation } from '../../sql/translation.ts'
import { where } from '../../sql/where.ts'
import type { Table } from '../catalogue.ts'
import { columnList } from '../columns.ts'
import { asOfFrom } from './as-of.ts'
import { comesInOrder, sortsAfterwards } from './planner-hints.ts'
import { type Writing, beginStatement, translation } from './translate.ts'
import { atSome, watch } from './watch.ts'
import { scoredRows, searchedRows } from './word-search.ts'

export interface Statements {
  prepare(text: string): StatementSync
  /** Removes a statement from the cache, so that it is prepared again. */
  forget(text: string): void
}

/** Caches prepared statements by text; evicts the oldest. */
export function createStatements(database: DatabaseSync, capacity = 500): Statements {
  const prepared = new Map<string, StatementSync>()
  return {
    prepare(text) {
      const known = prepared.get(text)
      if (known) return known
      const statement = database.prepare(text)
      statement.setReturnArrays(true)
      prepared.set(text, statement)
      evictFirst(prepared, capacity)
      return statement
    },
    forget: (text) => void prepared.delete(text),
  }
}

/** A row of `storedColumns`, followed by the joined columns. */
export type StoredRow = readonly [id: string, version: number, text: string, ...joined: (string | null)[]]

/** Where the joined columns begin. */
export const JOINED_FROM = 3

export function storedFrom(row: StoredRow): StoredDocument {
  // a pattern with a rest would make a list for every row, which is mostly empty
  if (row.length === JOINED_FROM) return { id: row[0], version: row[1], text: row[2] }
  const [id, version, text, ...joined] = row
  return { id, version, text, joined: joinedFrom(joined) }
}

/**
 * A watched statement checks for every row that the caller still waits; the check needs a connection with our
 * functions.
 */
export function readStatements(plan: ReadPlan, table: Table, isWatched = false): BoundRead {
  return bindRead(write(plan, table, isWatched), plan)
}

/** The same, but statements of a prepared find are written only once. */
export function preparedStatements(plan: ReadPlan, table: Table): BoundRead {
  return bindRead(writeOnce(plan, table), plan)
}

const writeOnce = writtenOnce((plan: ReadPlan, table: Table) => write(plan, table, false))

function write(plan: ReadPlan, present: Table, isWatched: boolean): WrittenRead {
  const writing = beginStatement(isWatched)
  const moment = plan.asOf === undefined ? undefined : asOfFrom(plan.asOf)
  const table = moment ? moment.tableAt(present) : present
  const name = plan.query && mentionsOthers(plan.query) ? table.name : ''
  const terms = [
    ...(isWatched ? [watch(plan, table)] : []),
    ...(plan.query ? [where(plan.query, translation(table, writing, name))] : []),
  ]
  // Without a condition SQLite counts a table by its pages, which is so much faster that it needs no check.
  const from = fromWhere(table, plan.query || moment ? terms : [])
  const rows = (columns: Fragment): Fragment => pageRows(plan, table, { columns, terms, isWatched })
  const page =
    plan.joins?.length || plan.withSources
      ? pageWithJoins(plan, table, { writing, rows })
      : [sortedFirst(plan, table, { rows, columns: raw(storedColumns(plan.idType)) })]
  const finish = (...parts: readonly Fragment[]): PreparedStatement =>
    prepare(behind([...(moment?.inFront() ?? []), ...parts]), SQLITE.placeholder)
  const searched = plan.query && searchedRows(plan.query, table)
  const counted = searched && isWatched ? sql`${searched} and ${atSome(raw('rowid'))}` : searched
  return {
    page: finish(...page),
    count: () => finish(counted ? sql`select count(*) from ${counted}` : sql`select count(*)${from}`),
  }
}

/** Makes the last part the statement, and all others its common table expressions. */
export function behind(parts: readonly Fragment[]): Fragment {
  const named = parts.slice(0, -1)
  return named.length === 0 ? parts[0]! : sql`with ${join(named, ', ')} ${parts.at(-1)!}`
}

function fromWhere(table: Table, terms: readonly Fragment[]): Fragment {
  const filter = terms.length > 0 ? sql` where ${join(terms, ' and ')}` : raw('')
  return sql` from ${raw(table.name)}${filter}`
}

interface PageRows {
  readonly columns: Fragment
  readonly terms: readonly Fragment[]
  readonly isWatched: boolean
}

/** The rows of a page in order. Ranges after a document are read one by one, until the page is full. */
function pageRows(plan: ReadPlan, table: Table, { columns, terms, isWatched }: PageRows): Fragment {
  const [only, ...others] = rangesOf(plan, table, isWatched)
  const rows = ({ condition, fixed }: KeysetRange, limit: Fragment): Fragment => {
    const from = fromWhere(table, [...terms, condition])
    return sql`select ${columns}${from} order by ${order(plan, table, { fixed, isWatched })}${limit}`
  }
  const scored = only ? undefined : relevantRows(plan, table, { columns, isWatched })
  if (scored) return scored
  if (!only) {
    const sorted = order(plan, table, { isWatched })
    return sql`select ${columns}${fromWhere(table, terms)} order by ${sorted}${window(plan)}`
  }
  if (others.length === 0) return rows(only, window(plan))
  const limit = window({ from: 0, ...(plan.to !== undefined && { to: plan.to }) })
  const ranges = [only, ...others].map((each) => sql`select * from (${rows(each, limit)})`)
  return sql`${join(ranges, ' union all ')}${window(plan)}`
}

/**
 * A page by relevance first: the score of its last row is known before any document is read, so that only documents that
 * may be on the page, or share that score, are read and sorted. Undefined for other pages.
 */
function relevantRows(
  plan: ReadPlan,
  table: Table,
  { columns, isWatched }: Omit<PageRows, 'terms'>,
): Fragment | undefined {
  const { query, sort, to, asOf } = plan
  if (!query || !sort[0]?.field.score || to === undefined || asOf !== undefined) return undefined
  const scored = scoredRows(query, table, isWatched)
  if (!scored) return undefined
  const { descending } = sort[0]
  const direction = SQLITE.direction(descending)
  const last = sql`select score from scored order by score ${direction} limit 1 offset ${param(Math.max(to, 0))}`
  const isNear = sql`score ${raw(descending ? '>=' : '<=')} coalesce((${last}), score)`
  const from = raw(`from scored cross join ${table.name} on ${table.name}.no = found`)
  const rest = order(plan, table, { fixed: 1, isWatched })
  return sql`with scored as materialized (${scored}) select ${columns} ${from} where ${isNear} order by score ${direction}, ${rest}${window(plan)}`
}

/** Empty for a page that begins with the first match. */
function rangesOf(plan: ReadPlan, table: Table, isWatched: boolean): readonly KeysetRange[] {
  const { after } = plan
  if (!after) return []
  const keys = afterKeys({ ...plan, after }, sortTranslation(plan, table, { isWatched }), (id) =>
    bind(id, plan.idType),
  )
  const isSortedAfterwards = sortsAfterwards(plan, table)
  // Without a limit, SQLite may ignore the order of a range.
  const served = isSortedAfterwards || plan.to === undefined ? 0 : servedKeys(plan, table.indexes.values())
  if (served > 0) return rangesAfter(keys, served)
  // The unary `+` keeps SQLite from using an index for this condition, which would not return rows in order.
  const sign = raw(keys.length > 1 || isSortedAfterwards ? '+' : '')
  return [{ condition: sql`${sign}${afterRow(keys)}`, fixed: 0 }]
}

interface Selected {
  readonly rows: (columns: Fragment) => Fragment
  readonly columns: Fragment
}

/**
 * SQLite sorts whole rows, with the documents in them. So the numbers of the rows are sorted, and documents are read for
 * the rows of the page only. A cross join keeps the order of what it begins with.
 */
function sortedFirst(plan: ReadPlan, table: Table, { rows, columns }: Selected): Fragment {
  if (plan.sort.length === 0 || plan.to === undefined || plan.asOf !== undefined) return rows(columns)
  const numbers = rows(raw('no as found'))
  return sql`select ${columns} from (${numbers}) cross join ${raw(table.name)} as shown on no = found`
}

/**
 * SQLite computes all columns before it sorts. So the page is selected first, and joined columns are computed
 * for its rows only. Without a sort the extra step has no use.
 */
function pageWithJoins(
  plan: ReadPlan,
  table: Table,
  { writing, rows }: { readonly writing: Writing; readonly rows: (columns: Fragment) => Fragment },
): readonly Fragment[] {
  const columns = (name: string): Fragment => {
    const to = translation(table, writing, name)
    return join([raw(storedColumns(plan.idType)), ...joinedColumns(plan, to)], ', ')
  }
  if (!plan.after && (plan.to === undefined || comesInOrder(plan, table))) return [rows(columns(table.name))]
  const sorted = order(plan, table, { name: 'page' })
  const selected = { rows, columns: raw(`no, id, version, doc${columnList(table.columns)}`) }
  return [
    sql`page as materialized (${sortedFirst(plan, table, selected)})`,
    sql`select ${columns('page')} from page order by ${sorted}`,
  ]
}

/**
 * `_id` as text, version and document. The `_id` column may contain a number or a sort key, so `_id` is read
 * from the document then.
 */
export function storedColumns(idType: TypeName): string {
  const isText = idType === 'string' || idType === 'uid' || idType === 'date'
  return `${isText ? 'id' : `doc -> '$."_id"'`}, version, doc`
}

/** The rows that a query matches, ordered by `_id`; with `among`, a JSON array of row numbers, only those. */
export function matchStatement(query: Query<FieldRef>, table: Table, among?: string): Statement {
  const filter = where(query, translation(table, beginStatement(true)))
  const chosen = among === undefined ? raw('') : sql`${isAmong(among)} and `
  return render(
    sql`select no from ${raw(table.name)} where ${chosen}${SQLITE.alive(raw('no'))} and ${filter} order by +id`,
    SQLITE.placeholder,
  )
}

/** The matching rows with their versions, for a reader thread. */
export function watchedMatchStatement(query: Query<FieldRef>, table: Table): Statement {
  const filter = where(query, translation(table, beginStatement(true)))
  const terms = sql`${SQLITE.alive(raw('no'))} and ${filter}`
  return render(sql`select no, version from ${raw(table.name)} where ${terms}`, SQLITE.placeholder)
}

/** The rows of `among` that still exist, with their versions. */
export function versionsStatement(among: string, table: Table): Statement {
  const text = sql`select no, version from ${raw(table.name)} where ${isAmong(among)} order by +id`
  return render(text, SQLITE.placeholder)
}

function isAmong(numbers: string): Fragment {
  return sql`no in (select value from json_each(${param(numbers)}))`
}

interface Order {
  /** The name of the rows, where it is not that of the table. */
  readonly name?: string
  /** How many of the first sort keys are the same in all rows. */
  readonly fixed?: number
  /** Whether lookups of other documents check that the caller still waits. */
  readonly isWatched?: boolean
}

export function order(plan: ReadPlan, table: Table, { fixed = 0, ...rest }: Order = {}): Fragment {
  const to = sortTranslation(plan, table, rest)
  const keys = [...plan.sort.slice(fixed).map((key) => orderBy(key, to)), raw('id')]
  // The unary `+` only keeps SQLite from choosing an index for this order.
  const sign = sortsAfterwards(plan, table) ? '+' : ''
  return join(
    keys.map((key) => sql`${raw(sign)}${key}`),
    ', ',
  )
}

/** The translation of sort keys: names of columns are qualified where the keys read other tables. */
export function sortTranslation(
  { sort }: ReadPlan,
  table: Table,
  { name, isWatched = false }: Omit<Order, 'fixed'>,
): Translation {
  return translation(table, beginStatement(isWatched), name ?? (sortsByOthers(sort) ? table.name : ''))
}

/**
 * `+ 0`, because SQLite plans by the value of a bare `limit` parameter, and would prepare the statement again
 * for each.
 */
export function window({ from, to }: Pick<ReadPlan, 'from' | 'to'>): Fragment {
  if (to === undefined) return from === 0 ? raw('') : sql` limit -1 offset ${param(from)}`
  return sql` limit ${param(Math.max(to - from + 1, 0))} + 0 offset ${param(from)}`
}
