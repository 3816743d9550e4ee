/** Aggregates: translated to one statement, on this thread or on a reader thread. */
import { nodesOf } from '../../../lang/query.ts'
import type { ResolvedAggregation, RowField } from '../../../lang/resolve/resolve-aggregate.ts'
import { type AggregatePlan, lastGroupOf } from '../../../plan/aggregate.ts'
import type { IndexDefinition } from '../../../schema/schema.ts'
import type { Bounds } from '../../bounds.ts'
import {
  type AggregateContext,
  aggregateStatement,
  groupFrom,
  hasLinks,
} from '../../sql/aggregate/aggregate.ts'
import { createInnerColumns, sqliteAggregates } from '../../sql/aggregate/sqlite-aggregate.ts'
import type { Base } from '../../sql/dialect.ts'
import { type Fragment, type SqlValue, type Statement, raw, render, sql } from '../../sql/fragment.ts'
import { mentionsOthers } from '../../sql/joining.ts'
import { SQLITE } from '../../sql/sqlite-dialect.ts'
import { typeOf } from '../../sql/translation.ts'
import { where } from '../../sql/where.ts'
import type { BeginGroups, Explanation, Found } from '../../store.ts'
import type { Table } from '../catalogue.ts'
import { explanationOf } from './explain.ts'
import type { Readers } from './readers.ts'
import { type Statements, behind, window } from './reads.ts'
import { areSmallTogether, isSmall, lastRowIn } from './table-size.ts'
import { beginStatement, translation } from './translate.ts'

interface Writing {
  readonly isWatched: boolean
  /** Whether every number is read from its digits. */
  readonly isExact: boolean
  /** Whether it is shown and not run: it must not tell how many statements were written before it. */
  readonly isShown?: boolean
}

export interface WrittenAggregate {
  readonly page: Statement
  readonly count: () => Statement
}

export function writeAggregate(plan: AggregatePlan, table: Table, writing: Writing): WrittenAggregate {
  const page = window({ from: plan.from, to: lastGroupOf(plan) })
  // Counted exactly, because only the page is read again if integers overflow.
  return {
    page: write(plan, table, { ...writing, page }),
    count: () => write(plan, table, { ...writing, isExact: true }),
  }
}

function write(
  plan: AggregatePlan,
  table: Table,
  { isWatched, isExact, isShown = false, page }: Writing & { readonly page?: Fragment },
): Statement {
  const isQualified = hasLinks(plan) || (plan.query !== undefined && mentionsOthers(plan.query))
  const own = translation(table, beginStatement(isWatched), isQualified ? table.name : '')
  const isInner = readsTexts(plan, { document: own.scopes[0]!, isExact })
  const dialect = sqliteAggregates(isExact, isInner ? createInnerColumns(isShown ? 0 : ++written) : undefined)
  const context: AggregateContext = {
    dialect,
    table: table.name,
    translation: own,
    terms: [
      ...(isWatched ? [dialect.watch!(raw(`${own.qualifier}no`))] : []),
      ...(plan.query ? [where(plan.query, own)] : []),
    ],
    finish: (statement, { name, select }) => behind([sql`${raw(name)} as (${select})`, statement]),
  }
  return render(aggregateStatement(plan, context, page), SQLITE.placeholder)
}

/** Distinguishes statements for `smalt_room`. */
let written = 0

interface Documents {
  readonly document: Base
  readonly isExact: boolean
}

/** Whether a value is read from the text of a document: from the whole one, or from that of an element. */
function readsTexts({ aggregation }: AggregatePlan, { document, isExact }: Documents): boolean {
  const { chain, keys, values } = aggregation
  if (chain.length > 0) return true
  const isInColumn = ({ steps, field }: RowField, isAdded: boolean): boolean => {
    const type = typeOf(field)
    const hasDigits = field.type.family === 'number' && (type !== 'integer' || isExact) && type !== 'double'
    if (hasDigits || (type === 'double' && isAdded)) return false
    const isOwn = steps.length === 1 && document.columns?.has(String(steps[0])) === true
    return isOwn || document.column?.(steps, type) !== undefined
  }
  return (
    keys.some(({ field }) => !isInColumn(field, false)) ||
    values.some((each) => 'field' in each && !isInColumn(each.field, ADDING.has(each.op)))
  )
}

const ADDING: ReadonlySet<string> = new Set(['$sum', '$avg'])

interface Aggregating {
  readonly begin: BeginGroups
  readonly isWatched: boolean
}

type Row = readonly SqlValue[]
type Take = (row: Row) => void

/** A statement to run, and where its rows go. */
interface Step {
  readonly statement: Statement
  readonly take: Take
}

export function aggregateHere(plan: AggregatePlan, table: Table, { begin, statements }: Here): Found {
  const steps = aggregating(plan, table, { begin, isWatched: !isReadFromIndex(plan, { table, statements }) })
  let step = steps.next()
  while (!step.done) {
    const { statement, take } = step.value
    try {
      for (const row of statements.prepare(statement.text).iterate(...statement.values))
        take(row as unknown as Row)
    } catch (error) {
      // The driver does not reset a statement whose iteration was ended by an error.
      statements.forget(statement.text)
      step = steps.throw(error)
      continue
    }
    step = steps.next()
  }
  return step.value
}

interface Here {
  readonly begin: BeginGroups
  readonly statements: Statements
}

export async function aggregateElsewhere(
  plan: AggregatePlan,
  { table, statements }: Near,
  { begin, readers, bounds }: Elsewhere,
): Promise<Found> {
  const isWatched = !isReadFromIndex(plan, { table, statements })
  const steps = aggregating(plan, table, { begin, isWatched })
  let step = steps.next()
  while (!step.done) {
    const { statement, take } = step.value
    try {
      await readers.read({ statement, bounds }, (rows: readonly Row[]) => rows.forEach(take))
    } catch (error) {
      step = steps.throw(error)
      continue
    }
    step = steps.next()
  }
  return step.value
}

interface Elsewhere {
  readonly begin: BeginGroups
  readonly readers: Readers
  readonly bounds: Bounds
}

/** Yields the statements to run. Integers are added natively first, and exactly if that is not enough. */
function* aggregating(
  plan: AggregatePlan,
  table: Table,
  { begin, isWatched }: Aggregating,
): Generator<Step, Found, void> {
  for (const isExact of [false, true]) {
    const { page, count } = writeAggregate(plan, table, { isWatched, isExact })
    const onGroup = begin()
    let matchCount: number | undefined
    const take: Take = (row) => {
      if (!isExact && isInexact(row, plan)) throw new Inexact()
      matchCount = Number(row.at(-1))
      onGroup(groupFrom(row, plan.aggregation))
    }
    try {
      yield { statement: page, take }
    } catch (error) {
      if (isExact || !(error instanceof Inexact || isOverflow(error))) throw error
      continue
    }
    if (matchCount === undefined && (plan.from > 0 || lastGroupOf(plan) < plan.from)) {
      yield { statement: count(), take: ([found]) => void (matchCount = Number(found)) }
    }
    return { matchCount: matchCount ?? 0 }
  }
  throw new Error('the exact statement has a result')
}

class Inexact extends Error {}

/** An exact number comes as text, unless another version of the entity stored it with another type. */
function isInexact(row: Row, { aggregation }: AggregatePlan): boolean {
  return aggregation.results.some(
    ({ kind }, i) => kind === 'exact' && row[i] !== null && typeof row[i] !== 'string',
  )
}

function isOverflow(error: unknown): boolean {
  return error instanceof Error && error.message.includes('integer overflow')
}

interface Near {
  readonly table: Table
  readonly statements: Statements
}

/**
 * Whether one index has everything that the aggregate reads. Watching each row would take most of the time then, and
 * so few rows are read within a fraction of a second.
 */
function isReadFromIndex({ query, aggregation }: AggregatePlan, { table, statements }: Near): boolean {
  const { chain, keys, values } = aggregation
  if (query || chain.length > 0 || keys.some(({ truncate }) => truncate)) return false
  if (values.some(({ op }) => op === '$sum' || op === '$avg')) return false
  const fields = [...keys, ...values].flatMap((each) => ('field' in each ? [each.field.field] : []))
  // The digits of a number that versions give different types are read from the document.
  if (fields.some(({ isMixed, type }) => isMixed && type.family === 'number')) return false
  const named = fields.map(({ path }) => path)
  const hasAll = ({ fields }: IndexDefinition): boolean =>
    named.every((path) => fields.some((field) => field.path === path && !field.caseInsensitive))
  return [...table.indexes.values()].some(hasAll) && lastRowIn(table, statements) <= MAX_UNWATCHED_ROWS
}

const MAX_UNWATCHED_ROWS = 2_000_000

/** Aggregates read all documents that match, so only small tables are read on this thread. */
export function isSlowAggregate({ query, aggregation }: AggregatePlan, { table, statements }: Near): boolean {
  if (readsAroundElements(aggregation)) return true
  const terms = (query ? [...nodesOf(query)].length : 0) + aggregation.results.length
  if (query && nodesOf(query).some(({ kind }) => kind === 'regex' || kind === 'text' || kind === 'related'))
    return true
  const others = aggregation.chain.flatMap((link) =>
    link.kind === 'documents' ? (table.beside(link.reference.field.join.schema.collection) ?? []) : [],
  )
  if (others.length > 0 && !areSmallTogether(table, others, statements)) return true
  return !isSmall(table, statements, terms)
}

/**
 * Whether the text of a document is searched for each of its elements, which costs the square of its size: for a value
 * outside of them, or for the digits of a number.
 */
function readsAroundElements({ chain, keys, values }: ResolvedAggregation): boolean {
  if (!chain.some(({ kind }) => kind === 'elements')) return false
  return [...keys, ...values].some(
    (each) =>
      'field' in each &&
      (each.field.up > 0 || (each.field.steps.length === 0 && each.field.field.type.family === 'number')),
  )
}

/** Counting the groups may take long, so the caller chooses where to run it. */
export function aggregateExplanation(plan: AggregatePlan, table: Table, statements: Statements) {
  const { page } = writeAggregate(plan, table, { isWatched: false, isExact: false, isShown: true })
  return {
    count: writeAggregate(plan, table, { isWatched: true, isExact: false }).count,
    finish: (matchCount: number, executionTimeMillis: number): Explanation =>
      explanationOf(page, { table, statements, matchCount, executionTimeMillis }),
  }
}
