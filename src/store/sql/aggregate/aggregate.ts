/**
 * Aggregations as SQL: the second interpreter beside `lang/evaluate/aggregate.ts`. One statement reads the rows, groups
 * them, and selects the page of groups.
 */
import { withoutTrailingZeros } from '../../../base/exact-aggregate.ts'
import type { Json } from '../../../base/json/json.ts'
import {
  type FieldAggregate,
  type Group,
  type ResultKind,
  type Truncation,
  doubleResult,
  exactResult,
  keepsScale,
} from '../../../lang/aggregate.ts'
import type { ResolvedAggregation, RowField } from '../../../lang/resolve/resolve-aggregate.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import type { SortKey } from '../../../lang/sort.ts'
import type { AggregatePlan } from '../../../plan/aggregate.ts'
import { idTypeOf } from '../../../plan/id-type.ts'
import type { SimpleField } from '../../../schema/field.ts'
import type { Base } from '../dialect.ts'
import { type Fragment, type SqlValue, join, joinBalanced, raw, sql } from '../fragment.ts'
import { type JoinedRows, joinedRows } from '../joined-rows.ts'
import { joiningOf } from '../joining.ts'
import { type Translation, isDocument, typeOf } from '../translation.ts'
import { filterTerms, where } from '../where.ts'
import type { ReadAs } from '../read-as.ts'

/** The differences between engines in the SQL of aggregations. */
export interface AggregateDialect {
  readonly key: (value: RowValue, truncate: Truncation | undefined) => Column
  readonly aggregate: (op: FieldAggregate, value: RowValue) => Column
  /** A number of the result, in a form in which numbers of all kinds compare by the digits that are returned. */
  readonly number: (compared: string, kind: NumberKind) => string
  /** Adds joined rows to those before. */
  readonly joined: (rows: JoinedRows) => Source
  /** A document without members, in place of the documents of a collection without a table. */
  readonly nothing: Base
  /** What the columns are selected from; the rows themselves when absent. Called after all columns have been made. */
  readonly rows?: (rows: Fragment, isGrouped: boolean) => Fragment
  /** Checks at some of the rows that the caller still waits; absent where the engine cancels statements itself. */
  readonly watch?: (position: Fragment) => Fragment
}

export type NumberKind = Extract<ResultKind, 'count' | 'exact' | 'double'>

/** A value of a row. */
export interface RowValue {
  readonly base: Base
  readonly steps: FieldRef['steps']
  readonly field: SimpleField
  /** The value in the form that compares as its type does. */
  readonly read: Fragment
  readonly type: ReadAs
}

/** A column of the grouped rows. */
export interface Column {
  readonly select: Fragment
  /** A second column, for the form in which the value is shown. */
  readonly beside?: Fragment
  /** The form in which results are compared and sorted; by default the column itself. */
  readonly compared?: (column: string, beside: string) => string
  /** The form that is returned; by default the column itself. */
  readonly shown?: (column: string, beside: string) => string
  /** Whether a value of the column is only the beginning of one. */
  readonly isCut?: (column: string) => string
}

export interface Source {
  readonly from: Fragment
  readonly terms: readonly Fragment[]
}

export interface AggregateContext {
  readonly dialect: AggregateDialect
  readonly table: string
  /** Qualifies columns of the table where `isJoined` says so. */
  readonly translation: Translation
  /** Conditions on the documents. */
  readonly terms: readonly Fragment[]
  /** Completes a statement by the common table expression that it reads. */
  readonly finish: (
    statement: Fragment,
    table: { readonly name: string; readonly select: Fragment },
  ) => Fragment
}

/** Whether other tables, or tables of elements, are beside the table of the documents. */
export function hasLinks({ aggregation }: AggregatePlan): boolean {
  return aggregation.chain.length > 0
}

/**
 * The groups in a window; the last column of each row is the number of all groups. Without a window only this number.
 * Where columns of keys may have beginnings of texts, the column before the last is 1 if any group has one: the groups
 * are not those of the whole texts then.
 */
export function aggregateStatement(
  plan: AggregatePlan,
  context: AggregateContext,
  window?: Fragment,
): Fragment {
  const { keys, values, results, having, sort } = plan.aggregation
  const { from, terms, translation } = rowsOf(plan, context)
  const columns = [
    ...keys.map(({ field, truncate }) => context.dialect.key(valueOf(field, translation), truncate)),
    ...values.map((value) =>
      value.op === '$count'
        ? { select: raw('count(*)') }
        : context.dialect.aggregate(value.op, valueOf(value.field, translation)),
    ),
  ]
  const filter = terms.length === 0 ? raw('') : sql` where ${joinBalanced(terms, ' and ')}`
  const grouping = keys.length === 0 ? '' : ` group by ${keys.map((_, i) => i + 1).join(', ')}`
  const source = sql`${from}${filter}`
  const rows = context.dialect.rows?.(source, keys.length > 0) ?? source
  const select = sql`select ${join(selectsOf(columns), ', ')} from ${rows}${raw(grouping)}`
  const inResult = resultTranslation(context, results, columns)
  const matching = sql`from grouped${having ? sql` where ${where(having, inResult)}` : raw('')}`
  const grouped = { name: 'grouped', select }
  if (!window) return context.finish(sql`select count(*) ${matching}`, grouped)
  const shown = columns.map(({ shown: show }, i) => raw(show?.(nameOf(i), besideOf(i)) ?? nameOf(i)))
  const order = orderOf(sort, { results, keys: keys.length, translation: inResult })
  const all = join([...shown, ...cutsOf(columns), raw('count(*) over ()')], ', ')
  return context.finish(sql`select ${all} ${matching}${order}${window}`, grouped)
}

function cutsOf(columns: readonly Column[]): readonly Fragment[] {
  const tests = columns.flatMap(({ isCut }, i) => (isCut ? [isCut(nameOf(i))] : []))
  return tests.length === 0 ? [] : [raw(`max(case when ${tests.join(' or ')} then 1 end) over ()`)]
}

function nameOf(column: number): string {
  return `c${column}`
}

function besideOf(column: number): string {
  return `b${column}`
}

/** All first columns come first, because keys are grouped by their positions. */
function selectsOf(columns: readonly Column[]): readonly Fragment[] {
  const first = columns.map(({ select }, i) => sql`${select} as ${raw(nameOf(i))}`)
  const second = columns.flatMap(({ beside }, i) => (beside ? [sql`${beside} as ${raw(besideOf(i))}`] : []))
  return [...first, ...second]
}

function valueOf({ up, steps, field }: RowField, { scopes, dialect }: Translation): RowValue {
  const base = scopes[up]!
  const type = typeOf(field)
  return { base, steps, field, type, read: dialect.read(base, steps, type) }
}

interface Rows extends Source {
  /** Its scopes are those of a row. */
  readonly translation: Translation
}

function rowsOf({ aggregation }: AggregatePlan, context: AggregateContext): Rows {
  const { dialect, table } = context
  const start: Rows = { from: raw(table), terms: context.terms, translation: context.translation }
  return aggregation.chain.reduce((rows, link): Rows => {
    const { translation } = rows
    const [base] = translation.scopes
    if (link.kind === 'elements') {
      const options = { alias: translation.alias(), isMixed: link.isMixed }
      const { from, element, position } = translation.dialect.each(base!, link.steps, options)
      const watched = translation.isWatched && dialect.watch ? [dialect.watch(position)] : []
      return {
        from: sql`${rows.from}, ${from}`,
        terms: [...rows.terms, ...watched],
        translation: { ...translation, scopes: [element, ...translation.scopes] },
      }
    }
    const { schema } = link.reference.field.join
    const other = translation.other(schema.collection, idTypeOf(schema))
    const scopes = (own: Base): readonly Base[] => [own, ...translation.scopes]
    if (!other) {
      return {
        ...rows,
        terms: [raw('1=0')],
        translation: { ...translation, scopes: scopes(dialect.nothing) },
      }
    }
    const isHeld =
      link.steps.length === 0 && isDocument(base!)
        ? []
        : [translation.dialect.isKind(base!, link.steps, 'object')]
    const joined = joinedRows(joiningOf([link.query], other), { other, translation, filter: filterTerms })
    const added = dialect.joined(joined)
    return {
      from: sql`${rows.from}${added.from}`,
      terms: [...rows.terms, ...isHeld, ...added.terms],
      translation: { ...joined.inner, scopes: scopes(joined.inner.scopes[0]!) },
    }
  }, start)
}

/** Names of the result are columns, in the form that the dialect compares. */
function resultTranslation(
  { translation, dialect }: AggregateContext,
  results: ResolvedAggregation['results'],
  columns: readonly Column[],
): Translation {
  const compared = columns.map(({ compared: form }, i) => form?.(nameOf(i), besideOf(i)) ?? nameOf(i))
  const row: Base = {
    json: raw('null'),
    present: raw('true'),
    columns: new Map(results.map(({ path }, i) => [path, compared[i]!])),
  }
  const byPath = new Map(results.map(({ path, kind }, i) => [path, { kind, column: compared[i]! }]))
  const paired = (field: FieldRef, other: FieldRef): Fragment => {
    const { kind, column } = byPath.get(field.path)!
    return raw(
      isNumberKind(kind) && kind !== byPath.get(other.path)!.kind ? dialect.number(column, kind) : column,
    )
  }
  const { again: _again, hint: _hint, indexed: _indexed, ...rest } = translation
  return {
    ...rest,
    scopes: [row],
    paired,
    qualifier: '',
    hasFoldedIndex: () => false,
    elementsOf: () => undefined,
    foldedElementsOf: () => undefined,
  }
}

function isNumberKind(kind: ResultKind): kind is NumberKind {
  return kind === 'count' || kind === 'exact' || kind === 'double'
}

interface Ordering {
  readonly results: ResolvedAggregation['results']
  readonly keys: number
  readonly translation: Translation
}

/** Groups are ordered by the sort, then by their keys. */
function orderOf(sort: readonly SortKey<FieldRef>[], { results, keys, translation }: Ordering): Fragment {
  const { dialect, scopes } = translation
  const byKeys = results.slice(0, keys).map((field) => ({ field, descending: false }))
  const terms = [...sort, ...byKeys].map(
    ({ field, descending }) =>
      sql`${dialect.read(scopes[0]!, field.steps, typeOf(field.field))} ${dialect.direction(descending)}`,
  )
  return terms.length === 0 ? raw('') : sql` order by ${join(terms, ', ')}`
}

/** The values of a row of a page; the number of all groups follows them. */
export function groupFrom(row: readonly SqlValue[], { keys, values, results }: ResolvedAggregation): Group {
  return [...keys, ...values].map((each, i) => {
    const isTrimmed = 'field' in each && !keepsScale(each.field.field.type.name)
    return resultFrom(row[i]!, results[i]!.kind, isTrimmed)
  })
}

function resultFrom(value: SqlValue, kind: ResultKind, isTrimmed: boolean): Json {
  if (value === null) return null
  switch (kind) {
    case 'count':
      return Number(value)
    case 'exact':
      return exactResult(isTrimmed ? withoutTrailingZeros(String(value)) : String(value))
    case 'double':
      return doubleResult(Number(value))
    case 'boolean':
      return Number(value) === 1
    case 'text':
      return String(value)
  }
}
