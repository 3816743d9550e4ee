/** Plans for reading as statements, prepared once by shape. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Query } from '../../lang/query.ts'
import type { FieldRef } from '../../lang/scope.ts'
import type { ReadPlan } from '../../plan/plan.ts'
import type { TypeName } from '../../schema/types.ts'
import { type Fragment, type Statement, join, param, raw, render, sql } from '../sql/fragment.ts'
import { orderBy } from '../sql/order-by.ts'
import { DOCUMENT, SQLITE } from '../sql/sqlite-dialect.ts'
import type { Translation } from '../sql/translation.ts'
import { where } from '../sql/where.ts'
import type { Table } from './catalogue.ts'
import { sortsAfterwards } from './steering.ts'

export interface Statements {
  prepare(text: string): StatementSync
  /** The next time it is prepared anew. */
  forget(text: string): void
}

/** Statements by their text; when there are too many shapes, the oldest go. */
export function createStatements(database: DatabaseSync, capacity = 500): Statements {
  const prepared = new Map<string, StatementSync>()
  return {
    prepare(text) {
      const known = prepared.get(text)
      if (known) return known
      if (prepared.size >= capacity) prepared.delete(prepared.keys().next().value!)
      const statement = database.prepare(text)
      statement.setReturnArrays(true)
      prepared.set(text, statement)
      return statement
    },
    forget: (text) => void prepared.delete(text),
  }
}

/** A row of `storedColumns`. */
export type StoredRow = readonly [id: string, version: number, text: string]

export interface ReadStatements {
  readonly page: Statement
  readonly count: Statement
}

/** A watched statement asks for every row whether anybody still waits; only reader threads know the answer. */
export function readStatements(plan: ReadPlan, table: Table, isWatched = false): ReadStatements {
  const terms = [
    ...(isWatched ? [SQLITE.alive(raw('no'))] : []),
    ...(plan.query ? [where(plan.query, translation(table, isWatched))] : []),
  ]
  const filter = terms.length > 0 ? sql` where ${join(terms, ' and ')}` : raw('')
  const from = sql` from ${raw(table.name)}${filter}`
  const page = sql`select ${raw(storedColumns(plan.idType))}${from} order by ${order(plan, table)}${window(plan)}`
  return {
    page: render(page, SQLITE.placeholder),
    count: render(sql`select count(*)${from}`, SQLITE.placeholder),
  }
}

/** Whether the page reached the last match, so that counting again would tell nothing new. */
export function endsHere({ from, to }: ReadPlan, taken: number): boolean {
  const hasRoom = to === undefined || taken < to - from + 1
  return hasRoom && (taken > 0 || from === 0)
}

/** The `_id` a plan asks for, when that is all it asks and the id is a text. */
export function soughtId({ query }: ReadPlan): string | undefined {
  if (query?.kind !== 'compare' || query.op !== '$eq' || query.field.field.path !== '_id') return undefined
  return typeof query.value === 'string' ? query.value : undefined
}

/** `_id` as text, version and document; the column of `_id` may hold a number or a key made for sorting. */
export function storedColumns(idType: TypeName): string {
  const isText = idType === 'string' || idType === 'uid' || idType === 'date'
  return `${isText ? 'id' : `doc -> '$."_id"'`}, version, doc`
}

/** The rows a query matches, in the order of `_id`; with `among`, a JSON array, only those of them. */
export function matchStatement(query: Query<FieldRef>, table: Table, among?: string): Statement {
  const filter = where(query, translation(table, true))
  const chosen = among === undefined ? raw('') : sql`${isAmong(among)} and `
  return render(
    sql`select no from ${raw(table.name)} where ${chosen}${SQLITE.alive(raw('no'))} and ${filter} order by +id`,
    SQLITE.placeholder,
  )
}

/** The same rows with their versions, looked for on a reader thread. */
export function watchedMatchStatement(query: Query<FieldRef>, table: Table): Statement {
  const filter = where(query, translation(table, true))
  const terms = sql`${SQLITE.alive(raw('no'))} and ${filter}`
  return render(sql`select no, version from ${raw(table.name)} where ${terms}`, SQLITE.placeholder)
}

/** Which of these rows there are, and in which version. */
export function versionsStatement(among: string, table: Table): Statement {
  const text = sql`select no, version from ${raw(table.name)} where ${isAmong(among)} order by +id`
  return render(text, SQLITE.placeholder)
}

function isAmong(numbers: string): Fragment {
  return sql`no in (select value from json_each(${param(numbers)}))`
}

function translation(table: Table, isWatched = false): Translation {
  let aliases = 0
  return {
    dialect: SQLITE,
    scopes: [DOCUMENT],
    alias: () => `e${++aliases}`,
    hasFoldedIndex: (path) => table.folded.has(path),
    elementsOf: (path) => table.elements.get(path),
    foldedElementsOf: (path) => table.foldedElements.get(path),
    isWatched,
  }
}

function order(plan: ReadPlan, table: Table): Fragment {
  const keys = [...plan.sort.map((key) => orderBy(key, translation(table))), raw('id')]
  // The sign changes nothing but that the engine does not look for an index that has this order.
  const sign = sortsAfterwards(plan, table) ? '+' : ''
  return join(
    keys.map((key) => sql`${raw(sign)}${key}`),
    ', ',
  )
}

function window({ from, to }: ReadPlan): Fragment {
  if (to === undefined) return from === 0 ? raw('') : sql` limit -1 offset ${param(from)}`
  return sql` limit ${param(Math.max(to - from + 1, 0))} offset ${param(from)}`
}
