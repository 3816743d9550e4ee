/** Plans for reading as statements. What the engine cannot answer is asked of the documents that come. */
import { parseTrusted } from '../../base/json.ts'
import { memoized } from '../../base/memo.ts'
import { compileQuery } from '../../lang/match.ts'
import { type Query, conjunctsOf } from '../../lang/query.ts'
import type { FieldRef } from '../../lang/scope.ts'
import type { SortKey } from '../../lang/sort.ts'
import type { ReadPlan, StoredDocument } from '../../plan/plan.ts'
import type { TypeName } from '../../schema/types.ts'
import {
  type Fragment,
  type Statement,
  join,
  joinBalanced,
  param,
  raw,
  render,
  sql,
} from '../sql/fragment.ts'
import { orderBy } from '../sql/order-by.ts'
import { POSTGRES } from '../sql/postgres-dialect.ts'
import { postgresPattern } from '../sql/postgres-pattern.ts'
import { type Split, split } from '../sql/split.ts'
import type { Translation } from '../sql/translation.ts'
import { where } from '../sql/where.ts'
import type { Table } from './catalogue.ts'
import type { Row } from './connections.ts'
import { hintsOf, textIndexAt } from './hints.ts'
import { DOCUMENT, TEXT_ID_DOCUMENT, isText } from './indexes.ts'

/** Whether a document that the engine gave is a match; absent when every one is. */
export type Residual = (document: StoredDocument) => boolean

export interface ReadStatements {
  readonly page: Statement
  readonly count: Statement
  /** With it the page is everything that may match, and page and count are to be made of what does. */
  readonly residual?: Residual
}

export function readStatements(plan: ReadPlan, table: Table): ReadStatements {
  const { pushed, residual } = plan.query ? splitQuery(plan.query) : {}
  const from = sql` from ${raw(table.name)}${filterBy(pushed, plan.idType, table)}`
  const ordered = sql`select ${raw(storedColumns(plan.idType))}${from} order by ${order(plan, table)}`
  return {
    page: print(residual ? ordered : sql`${ordered}${window(plan)}`),
    count: print(sql`select count(*)${from}`),
    ...(residual && { residual: residualTest(residual) }),
  }
}

/** The documents a query matches, as keys and versions; with a residual the documents come along. */
export function matchStatement(
  query: Query<FieldRef>,
  idType: TypeName,
  table: Table,
): { readonly statement: Statement; readonly residual?: Residual } {
  const { pushed, residual } = splitQuery(query)
  const columns = residual ? raw(`${storedColumns(idType)}, id`) : raw('null, version, null, null, id')
  const text = sql`select ${columns} from ${raw(table.name)}${filterBy(pushed, idType, table)} order by id`
  return { statement: print(text), ...(residual && { residual: residualTest(residual) }) }
}

/** What a query matches can be asked of a document in memory: both interpreters mean the same. */
export function residualTest(query: Query<FieldRef>): Residual {
  const matches = compileQuery(query)
  return ({ text }) => matches({ value: parseTrusted(text) })
}

/** Regular expressions are pushed only where PostgreSQL's dialect means the same. */
export const splitQuery = memoized((query: Query<FieldRef>): Split =>
  split(query, (part) => part.kind !== 'regex' || postgresPattern(part.pattern, part.flags) !== undefined),
)

/** `_id` as text, version and document; a number is told in the digits it was written in. */
export function storedColumns(idType: TypeName): string {
  return `${hasTextId(idType) ? 'id' : `doc::json ->> '_id'`}, version, doc, paths`
}

export function storedFrom([id, version, text, paths]: Row): StoredDocument {
  return { id: id!, version: Number(version), text: text!, paths: Number(paths) }
}

/** The `_id` a plan asks for, when that is all it asks and the id is a text. */
export function soughtId({ query }: Pick<ReadPlan, 'query'>): string | undefined {
  if (query?.kind !== 'compare' || query.op !== '$eq' || query.field.field.path !== '_id') return undefined
  return typeof query.value === 'string' ? query.value : undefined
}

/** Whether the page reached the last match, so that counting again would tell nothing new. */
export function endsHere({ from, to }: ReadPlan, taken: number): boolean {
  const hasRoom = to === undefined || taken < to - from + 1
  return hasRoom && (taken > 0 || from === 0)
}

function hasTextId(idType: TypeName): boolean {
  return idType === 'string' || idType === 'uid' || idType === 'date'
}

function filterBy(query: Query<FieldRef> | undefined, idType: TypeName, table: Table): Fragment {
  if (!query) return raw('')
  const to = translation(idType, table)
  const terms = conjunctsOf(query).map((term) => indexedTerm(term, table) ?? where(term, to))
  return sql` where ${terms.length === 0 ? where(query, to) : joinBalanced(terms, ' and ')}`
}

/**
 * A comparison that its index answers alone, because the value is shorter than what the index holds of a text. Asking
 * the documents as well would read each of them, and make the engine expect far fewer rows than come.
 */
function indexedTerm(term: Query<FieldRef>, table: Table): Fragment | undefined {
  if (term.kind !== 'compare' && term.kind !== 'in') return undefined
  const { field } = term.field
  const index = textIndexAt(term.field, table)
  if (!index || field.kind !== 'simple' || !isText(field.type.name)) return undefined
  const values = term.kind === 'in' ? term.values : [term.value]
  const areShort = values.every((value) => typeof value === 'string' && value.length < index.length)
  return areShort ? hintsOf(table)(term) : undefined
}

function translation(idType: TypeName, table: Table): Translation {
  let aliases = 0
  return {
    dialect: POSTGRES,
    scopes: [hasTextId(idType) ? TEXT_ID_DOCUMENT : DOCUMENT],
    alias: () => `e${++aliases}`,
    hasFoldedIndex: () => false,
    elementsOf: () => undefined,
    foldedElementsOf: () => undefined,
    hint: hintsOf(table),
    isWatched: false,
  }
}

function order(plan: ReadPlan, table: Table): Fragment {
  const to = translation(plan.idType, table)
  const keys = plan.sort.flatMap((key) => [...beginningKey(key, table), orderBy(key, to)])
  return join([...keys, raw('id')], ', ')
}

/** An index of the beginnings of texts gives the order as far as it reaches; the engine sorts the rest by itself. */
function beginningKey({ field, descending }: SortKey<FieldRef>, table: Table): readonly Fragment[] {
  const index = textIndexAt(field, table)
  return index ? [sql`${index.expression} ${POSTGRES.direction(descending)}`] : []
}

function window({ from, to }: ReadPlan): Fragment {
  const limit = to === undefined ? raw('') : sql` limit ${param(Math.max(to - from + 1, 0))}`
  return from === 0 ? limit : sql`${limit} offset ${param(from)}`
}

function print(fragment: Fragment): Statement {
  return render(fragment, POSTGRES.placeholder)
}
