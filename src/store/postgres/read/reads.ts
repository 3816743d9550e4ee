/**
 * Translates read plans to statements. The residual of a query, which the engine cannot evaluate, is
 * evaluated on the documents that it returns.
 */
import { type Work, during, spend } from '../../../base/work/work.ts'
import type { Bounds } from '../../bounds.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import { compileQuery } from '../../../lang/evaluate/match.ts'
import { bindQuery } from '../../../lang/parameters.ts'
import { type Query, conjunctsOf } from '../../../lang/query.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import type { SortKey } from '../../../lang/sort.ts'
import type { JoinPlan, ReadPlan, StoredDocument } from '../../../plan/plan.ts'
import type { TypeName } from '../../../schema/types.ts'
import {
  type Fragment,
  type Statement,
  join,
  joinBalanced,
  param,
  prepare,
  raw,
  render,
  sql,
} from '../../sql/fragment.ts'
import { type WrittenRead, bindRead, writtenOnce } from '../../sql/prepared-statement.ts'
import { joinedColumns, joinedFrom } from '../../sql/joined.ts'
import { mentionsOthers } from '../../sql/joining.ts'
import { type KeysetRange, afterKeys, isOwnId, servedKeys, rangesAfter } from '../../sql/keyset.ts'
import { orderBy } from '../../sql/order-by.ts'
import { POSTGRES } from '../../sql/postgres-dialect.ts'
import { filterTerms, where } from '../../sql/where.ts'
import type { Table } from '../schema/catalogue.ts'
import type { Row } from '../connection/connections.ts'
import type { PlanChoice } from '../connection/plan-choice.ts'
import { textIndexAt } from './index-conditions.ts'
import { columnsOf, idKey } from '../schema/indexes.ts'
import { searchByIndex } from '../schema/word-search.ts'
import { tablesAt } from './as-of.ts'
import { pushdownTo } from './pushdown.ts'
import { wasRefused } from './refused.ts'
import { type SortedRows, fromWhere, nameOfRows, sortedRows } from './sorted-rows.ts'
import { type Documents, type Writing, beginStatement, hasTextId, translation } from './translate.ts'

/** Whether a candidate from the engine matches; absent when every one does. */
export type Residual = (document: StoredDocument) => boolean

export interface ReadStatements {
  readonly page: Statement
  readonly count: () => Statement
  /** If present, `page` returns all candidates, and page and count must be computed from the matches. */
  readonly residual?: Residual
  /** How the page is planned. */
  readonly plans?: PlanChoice
}

export function readStatements(plan: ReadPlan, table: Table): ReadStatements {
  return bound(write(plan, table), plan)
}

/** Like `readStatements`, but statements of a prepared find are written only once. */
export function preparedStatements(plan: ReadPlan, table: Table): ReadStatements {
  const isCached = !(plan.query && wasRefused(plan.query))
  return bound((isCached ? writeOnce : write)(plan, table), plan)
}

const writeOnce = writtenOnce(write)

function bound(written: WrittenRead, plan: ReadPlan): ReadStatements {
  const { residual, hasOnePlan = false } = written
  const read: ReadStatements = { ...bindRead(written, plan), plans: hasOnePlan ? 'generic' : 'auto' }
  return residual ? { ...read, residual: residualTest(bindQuery(residual, plan.arguments ?? [])) } : read
}

function write(plan: ReadPlan, present: Table): WrittenRead {
  const { idType, joins = [], asOf } = plan
  const { pushed, residual } = plan.query ? pushdownTo(present, asOf).split(plan.query) : {}
  const writing = beginStatement()
  const table = asOf === undefined ? present : tablesAt(asOf, writing)(present)
  const documents = { table, idType }
  const name = nameOfRows(plan.sort, writing)
  const search = residual ? undefined : searchOf(pushed, documents, name)
  // No index has the order by relevance, so that all matches are read.
  const isByRelevance = search !== undefined && plan.sort[0]?.field.score !== undefined
  const condition = isByRelevance ? search : conditionOf(pushed, documents, writing, name)
  const terms = condition ? [condition] : []
  const counted = raw(name === undefined ? table.name : `${table.name} ${name}`)
  const all = search ? [search] : terms
  const count = writing.finish(sql`select count(*)${fromWhere(counted, all)}`)
  for (const each of joins) requireAnswers(each, table)
  const to = translation(documents, writing, table.name)
  const columns = join([raw(storedColumns(idType)), ...joinedColumns(plan, to)], ', ')
  // The page of a residual is cut out of the candidates, so all of them are read.
  const read = residual ? openPage(plan) : plan
  const sorted = sortedRows(plan.sort, documents, { writing, name })
  const ranges = rangesOf(read, table, sorted)
  // The count reads all matches, too.
  const isReadByIndex = search !== undefined && plan.counted && !isByRelevance && !table.isDistributed
  const from = isReadByIndex ? unordered(sorted.from(all), table, name) : sorted.from(terms)
  const hasOnePlan = condition === undefined && isWalk(read, table, ranges)
  const rows =
    ranges.length === 0
      ? sql`${from} order by ${order(plan, table, sorted)}${window(read)}`
      : rowsOfRanges(read, table, { ranges, sorted, hasOnePlan, ...(condition && { condition }) })
  return {
    page: prepare(writing.finish(sql`select ${columns}${rows}`), POSTGRES.placeholder),
    count: () => prepare(count, POSTGRES.placeholder),
    ...(residual && { residual }),
    hasOnePlan,
  }
}

/**
 * A search as the only condition, for statements that read all matches; undefined for other queries. An order must not
 * make the engine choose another index: it would make a list of the words of every document.
 */
function searchOf(
  query: Query<FieldRef> | undefined,
  { table }: Documents,
  name: string | undefined,
): Fragment | undefined {
  const [term, ...others] = query ? conjunctsOf(query) : []
  if (term?.kind !== 'text' || others.length > 0) return undefined
  return searchByIndex(term, table.layout.columns, name === undefined ? '' : `${name}.`)
}

/** The rows as a sub-select that no order around it reaches. Rows with a name of their own are one already. */
function unordered(from: Fragment, table: Table, name: string | undefined): Fragment {
  return name === undefined ? sql` from (select *${from} offset 0) as ${raw(table.name)}` : from
}

function openPage(plan: ReadPlan): ReadPlan {
  const { to: _, ...open } = plan
  return { ...open, from: 0 }
}

/** The ranges of a page after a document; empty for a page that begins with the first match. */
function rangesOf(plan: ReadPlan, table: Table, { to }: SortedRows): readonly KeysetRange[] {
  const { after } = plan
  if (!after) return []
  const keys = afterKeys({ ...plan, after }, to, idKey)
  return rangesAfter(keys, servedKeys(plan, table.indexes.values()))
}

/** Whether a page without a condition only follows an index: then that is the best way for all values. */
function isWalk(
  { sort, to, joins = [] }: ReadPlan,
  table: Table,
  [first, ...others]: readonly KeysetRange[],
): boolean {
  const own = sort.findIndex(isOwnId)
  const isServed = others.length > 0 && first!.fixed === (own === -1 ? sort.length : own)
  return isServed && to !== undefined && joins.length === 0 && !table.isDistributed
}

/** The engine reads ranges one after the other, until the page is full: with a limit in each, never in parallel. */
function rowsOfRanges(
  plan: ReadPlan,
  table: Table,
  {
    ranges,
    sorted,
    condition,
    hasOnePlan,
  }: {
    readonly ranges: readonly KeysetRange[]
    readonly sorted: SortedRows
    readonly condition?: Fragment
    readonly hasOnePlan: boolean
  },
): Fragment {
  const terms = condition ? [sql`(${condition})`] : []
  const rows = ({ condition: isAfter, fixed }: KeysetRange): Fragment =>
    sql`${sorted.from(terms, [isAfter])} order by ${order(plan, table, sorted, fixed)}`
  if (ranges.length === 1) return sql`${rows(ranges[0]!)}${window(plan)}`
  const limit = hasOnePlan
    ? raw(` limit ${roundedLimit(plan.to! + 1)}`)
    : window({ from: 0, ...(plan.to !== undefined && { to: plan.to }) })
  // Each row is copied several times, so it has only the columns that are selected; joins may read any other.
  const columns = raw(plan.joins?.length || plan.withSources ? '*' : 'id, version, doc, paths')
  const selects = ranges.map((each) => sql`(select ${columns}${rows(each)}${limit})`)
  return sql` from (${join(selects, ' union all ')}${window(plan)}) as ${raw(table.name)}`
}

/**
 * A limit that stands in the text: for one that is not known yet, the planner expects a tenth of all rows, and may rather
 * sort the table. It is rounded up, so that pages of similar sizes share a statement, and reading ends at the limit of the
 * page; by little only, because where ties are sorted the server reads ahead to the limit.
 */
function roundedLimit(rows: number): number {
  const step = Math.max(8, 2 ** (Math.floor(Math.log2(rows)) - 3))
  return Math.ceil(rows / step) * step
}

/** Selects the keys, versions and sizes of the documents that a query matches; with a residual, the documents too. */
export function matchStatement(
  { query, idType, work }: Matching,
  table: Table,
): { readonly statement: Statement; readonly residual?: Residual } {
  const { pushed, residual } = pushdownTo(table).split(query)
  const stored = residual ? storedColumns(idType) : 'null, version, null, null'
  const columns = raw(`${stored}, id, octet_length(doc)`)
  const text = sql`select ${columns} from ${raw(table.name)}${filterBy(pushed, { table, idType }, beginStatement())} order by id`
  return { statement: print(text), ...(residual && { residual: residualTest(residual, work) }) }
}

interface Matching {
  readonly query: Query<FieldRef>
  readonly idType: TypeName
  readonly work?: Work | undefined
}

/** Evaluates a query on a document in memory: SQL and evaluator give it the same meaning. */
export function residualTest(query: Query<FieldRef>, work?: Work): Residual {
  const matches = compileQuery(query)
  return paidBy(work, ({ text }) => {
    spend(text.length / CHARACTERS_PARSED_PER_STEP)
    return matches({ value: parseTrusted(text) })
  })
}

const CHARACTERS_PARSED_PER_STEP = 8

/** The same statements, with the residual charged to the work of a request. */
export function readStatementsFor({ work }: Bounds, read: ReadStatements): ReadStatements {
  return read.residual ? { ...read, residual: paidBy(work, read.residual) } : read
}

function paidBy(work: Work | undefined, residual: Residual): Residual {
  return work ? (document) => during(work, () => residual(document)) : residual
}

export function requireAnswers({ query, joins }: JoinPlan, table: Table): void {
  const { canJoin, answers } = pushdownTo(table)
  if (!canJoin || !answers(query)) throw new Error('a query on joined documents must be pushed down')
  for (const each of joins) requireAnswers(each, table)
}

/**
 * `_id` as text, version, document and number of paths. A numeric `_id` is read from the document, in its
 * original digits.
 */
export function storedColumns(idType: TypeName): string {
  return `${hasTextId(idType) ? 'id' : `doc::json ->> '_id'`}, version, doc, paths`
}

export function storedFrom([id, version, text, paths]: Row): StoredDocument {
  return { id: id!, version: Number(version), text: text!, paths: Number(paths) }
}

/** A row of a page: the stored document, and the documents joined to it. */
export function pageDocument(row: Row): StoredDocument {
  if (row.length === STORED_COLUMNS) return storedFrom(row)
  return { ...storedFrom(row), joined: joinedFrom(row.slice(STORED_COLUMNS)) }
}

const STORED_COLUMNS = 4

function filterBy(query: Query<FieldRef> | undefined, documents: Documents, writing: Writing): Fragment {
  const condition = conditionOf(query, documents, writing)
  return condition ? sql` where ${condition}` : raw('')
}

/** Undefined where every document matches. `name` qualifies the columns, where the statement reads other tables too. */
export function conditionOf(
  query: Query<FieldRef> | undefined,
  documents: Documents,
  writing: Writing,
  name = query && mentionsOthers(query) ? documents.table.name : '',
): Fragment | undefined {
  if (!query) return undefined
  const conjuncts = conjunctsOf(query)
  const to = { ...translation(documents, writing, name), isAlone: conjuncts.length === 1 }
  const terms = filterTerms(conjuncts, to)
  return terms.length === 0 ? where(query, to) : joinBalanced(terms, ' and ')
}

/**
 * `fixed` of the first sort keys are the same in all rows. `_id` is unique, so no key after it decides, and its
 * column is never null: without `nulls last` the primary key serves both directions.
 */
export function order(plan: ReadPlan, table: Table, { to }: SortedRows, fixed = 0): Fragment {
  const sort = plan.sort.slice(fixed)
  const own = sort.findIndex(isOwnId)
  const keys = sort
    .slice(0, own === -1 ? sort.length : own)
    .flatMap((key) => [...beginningKey(key, table), orderBy(key, to)])
  return join([...keys, raw(sort[own]?.descending ? 'id desc' : 'id')], ', ')
}

/** An index of the beginnings of texts provides the order as far as it reaches; the engine sorts only ties. */
function beginningKey({ field, descending }: SortKey<FieldRef>, table: Table): readonly Fragment[] {
  const index = field.joined ? undefined : textIndexAt(field, table)
  return index
    ? [sql`${index.expression(columnsOf(table.layout).document)} ${POSTGRES.direction(descending)}`]
    : []
}

export function window({ from, to }: Pick<ReadPlan, 'from' | 'to'>): Fragment {
  const limit = to === undefined ? raw('') : sql` limit ${param(Math.max(to - from + 1, 0))}`
  return from === 0 ? limit : sql`${limit} offset ${param(from)}`
}

export function print(fragment: Fragment): Statement {
  return render(fragment, POSTGRES.placeholder)
}
