/**
 * Translates read plans to statements. The residual of a query, which the engine cannot evaluate, is
 * evaluated on the documents that it returns.
 */
import { type Work, during, spend } from '../../../base/work/work.ts'
import type { Bounds } from '../../bounds.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import { memoized } from '../../../base/memo.ts'
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
import { orderBy } from '../../sql/order-by.ts'
import { POSTGRES } from '../../sql/postgres-dialect.ts'
import { postgresPattern } from '../../sql/pattern/postgres-pattern.ts'
import { type Split, isAnswerable, split } from '../../sql/split.ts'
import { filterTerms, where } from '../../sql/where.ts'
import type { Table } from '../schema/catalogue.ts'
import type { Row } from '../connection/connections.ts'
import { textIndexAt } from './index-conditions.ts'
import { columnsOf } from '../schema/indexes.ts'
import { tablesAt } from './as-of.ts'
import { type Documents, type Writing, beginStatement, hasTextId, translation } from './translate.ts'

/** Whether a candidate from the engine matches; absent when every one does. */
export type Residual = (document: StoredDocument) => boolean

export interface ReadStatements {
  readonly page: Statement
  readonly count: () => Statement
  /** If present, `page` returns all candidates, and page and count must be computed from the matches. */
  readonly residual?: Residual
}

export function readStatements(plan: ReadPlan, table: Table): ReadStatements {
  return bound(write(plan, table), plan)
}

/** Like `readStatements`, but statements of a prepared find are written only once. */
export function preparedStatements(plan: ReadPlan, table: Table): ReadStatements {
  return bound(writeOnce(plan, table), plan)
}

const writeOnce = writtenOnce(write)

function bound(written: WrittenRead, { arguments: given = [] }: ReadPlan): ReadStatements {
  const { residual } = written
  const read = bindRead(written, given)
  return residual ? { ...read, residual: residualTest(bindQuery(residual, given)) } : read
}

function write(plan: ReadPlan, present: Table): WrittenRead {
  const { idType, joins = [], asOf } = plan
  const { pushed, residual } = plan.query ? splitQuery(plan.query) : {}
  const writing = beginStatement()
  const table = asOf === undefined ? present : tablesAt(asOf, writing)(present)
  const documents = { table, idType }
  const from = sql` from ${raw(table.name)}${filterBy(pushed, documents, writing)}`
  const count = writing.finish(sql`select count(*)${from}`)
  joins.forEach(requireAnswers)
  const joined = joinedColumns(joins, translation(documents, writing, table.name))
  const columns = join([raw(storedColumns(idType)), ...joined], ', ')
  const ordered = writing.finish(sql`select ${columns}${from} order by ${order(plan, table)}`)
  return {
    page: prepare(residual ? ordered : sql`${ordered}${window(plan)}`, POSTGRES.placeholder),
    count: () => prepare(count, POSTGRES.placeholder),
    ...(residual && { residual }),
  }
}

/** Selects the keys and versions of the documents that a query matches; with a residual, the documents too. */
export function matchStatement(
  { query, idType, work }: Matching,
  table: Table,
): { readonly statement: Statement; readonly residual?: Residual } {
  const { pushed, residual } = splitQuery(query)
  const columns = residual ? raw(`${storedColumns(idType)}, id`) : raw('null, version, null, null, id')
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

export const splitQuery = memoized((query: Query<FieldRef>): Split => split(query, canPush))

/** Whether the query can be pushed down completely. */
export const answers = memoized((query: Query<FieldRef>): boolean => isAnswerable(query, canPush))

/** Regular expressions are pushed down only where PostgreSQL's dialect gives them the same meaning. */
function canPush(part: Query<FieldRef>): boolean {
  return part.kind !== 'regex' || postgresPattern(part.pattern, part.flags) !== undefined
}

export function requireAnswers({ query, joins }: JoinPlan): void {
  if (!answers(query)) throw new Error('what is joined can only be told by the engine')
  joins.forEach(requireAnswers)
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

/** Undefined where every document matches. */
export function conditionOf(
  query: Query<FieldRef> | undefined,
  documents: Documents,
  writing: Writing,
): Fragment | undefined {
  if (!query) return undefined
  const name = mentionsOthers(query) ? documents.table.name : ''
  const conjuncts = conjunctsOf(query)
  const to = { ...translation(documents, writing, name), isAlone: conjuncts.length === 1 }
  const terms = filterTerms(conjuncts, to)
  return terms.length === 0 ? where(query, to) : joinBalanced(terms, ' and ')
}

export function order(plan: ReadPlan, table: Table): Fragment {
  const to = translation({ table, idType: plan.idType }, beginStatement())
  const keys = plan.sort.flatMap((key) => [...beginningKey(key, table), orderBy(key, to)])
  return join([...keys, raw('id')], ', ')
}

/** An index of the beginnings of texts provides the order as far as it reaches; the engine sorts only ties. */
function beginningKey({ field, descending }: SortKey<FieldRef>, table: Table): readonly Fragment[] {
  const index = textIndexAt(field, table)
  return index ? [sql`${index.expression(columnsOf('').document)} ${POSTGRES.direction(descending)}`] : []
}

export function window({ from, to }: Pick<ReadPlan, 'from' | 'to'>): Fragment {
  const limit = to === undefined ? raw('') : sql` limit ${param(Math.max(to - from + 1, 0))}`
  return from === 0 ? limit : sql`${limit} offset ${param(from)}`
}

export function print(fragment: Fragment): Statement {
  return render(fragment, POSTGRES.placeholder)
}
