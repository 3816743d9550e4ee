/**
 * SQLite's part of aggregations. Integers are added by the engine; decimals, doubles and integers outside of 64 bits go
 * through our functions, which are exact.
 */
import type { FieldAggregate, Truncation } from '../../../lang/aggregate.ts'
import { type Fragment, join, param, raw, sql } from '../fragment.ts'
import type { AggregateDialect, Column, NumberKind, RowValue } from './aggregate.ts'
import { jsonTextOf } from '../sqlite-dialect.ts'

/**
 * `isExact` reads every number from its digits. Otherwise integers are read natively; a sum that overflows then fails,
 * and a number that another version stored as a decimal is returned as a number instead of a text: both have to be
 * read again.
 */
export function sqliteAggregates(isExact: boolean, inner?: InnerColumns): AggregateDialect {
  const numbersOf = (value: RowValue): Numbers => {
    const { field, type } = value
    if (field.type.family !== 'number') return 'none'
    if (field.type.name === 'double') return type === 'double' ? 'double' : 'doubleDigits'
    return type === 'integer' && !isExact ? 'native' : 'digits'
  }
  return {
    key: (value, truncate) => keyColumn(readingOf(value, inner), numbersOf(value), truncate),
    aggregate: (op, value) => aggregateColumn(op, readingOf(value, inner), numbersOf(value)),
    number: (compared, kind) => NUMBERS[kind](compared),
    ...(inner && { rows: inner.rows }),
    joined: ({ from, where }) => ({ from: sql`, ${from}`, terms: [where] }),
    nothing: { json: raw('null'), present: raw('false') },
    watch: (position) => sql`(${position} % 64 <> 63 or smalt_alive(${position}))`,
  }
}

/** How a value is read: in the form that compares as its type does, or as JSON text. */
interface Reading {
  readonly read: () => Fragment
  readonly text: () => Fragment
}

function readingOf({ base, steps, read }: RowValue, inner: InnerColumns | undefined): Reading {
  const select = inner?.add ?? ((value: Fragment) => value)
  return { read: () => select(read), text: () => select(jsonTextOf(base, steps)) }
}

/** The values of rows as columns of an inner query. */
export interface InnerColumns {
  /** Returns the name of the column; equal values share one. */
  readonly add: (value: Fragment) => Fragment
  readonly rows: NonNullable<AggregateDialect['rows']>
}

/**
 * To group rows, SQLite sorts them together with every column of a table that an aggregate reads. If one reads the text
 * of a document, that is the document, for each of its elements again. A query with a limit is not merged into the one
 * around it, so only the values are sorted. `smalt_room` bounds how much that is.
 */
export function createInnerColumns(statementNo: number): InnerColumns {
  const columns = new Map<string, { readonly name: string; readonly value: Fragment }>()
  return {
    add(value) {
      const key = JSON.stringify(value.parts)
      const column = columns.get(key) ?? { name: `v${columns.size}`, value }
      columns.set(key, column)
      return raw(column.name)
    },
    rows(rows, isGrouped) {
      if (columns.size === 0) return rows
      const all = [...columns.values()]
      const values = all.map(({ name, value }) => sql`${value} as ${raw(name)}`)
      const from = sql`(select ${join(values, ', ')} from ${rows} limit -1)`
      if (!isGrouped) return from
      const bytes = all.map(({ name }) => `coalesce(octet_length(${name}), 0)`).join(' + ')
      const room = sql`smalt_room(${param(statementNo)}, ${raw(bytes)})`
      return sql`${from} where (${raw(bytes)} <= ${raw(String(SMALL_BYTES))} or ${room})`
    },
  }
}

/** Rows that are not larger take no more memory than their number allows within the time limit. */
const SMALL_BYTES = 256

/** How a number is read: natively, from its digits, or as a double; a double may be one of the digits of another type. */
type Numbers = 'none' | 'native' | 'digits' | 'double' | 'doubleDigits'

function keyColumn(value: Reading, numbers: Numbers, truncate: Truncation | undefined): Column {
  if (truncate) {
    const { period, timeZone = null } = truncate
    return { select: sql`smalt_period(${value.read()}, ${param(period)}, ${param(timeZone)})` }
  }
  if (numbers === 'native') return nativeColumn(value.read())
  if (numbers === 'doubleDigits') return { select: doubleOf(value) }
  if (numbers !== 'digits') return { select: value.read(), ...(numbers === 'double' && DOUBLE) }
  return { select: orderKeyOf(value), beside: sql`smalt_max(${value.text()})`, shown: (_, beside) => beside }
}

function aggregateColumn(op: FieldAggregate, value: Reading, numbers: Numbers): Column {
  if (op === '$distinct') {
    return { select: sql`count(distinct ${distinctly(value, numbers)})` }
  }
  const name = op.slice(1)
  if (numbers === 'native') return nativeAggregate(op, value.read())
  if (numbers === 'digits')
    return { select: sql`${raw(`smalt_${name}`)}(${value.text()})`, compared: orderKey }
  if (op === '$sum' || op === '$avg') return { select: sql`${raw(`smalt_double_${name}`)}(${value.text()})` }
  if (numbers === 'doubleDigits') return { select: sql`${raw(name)}(${doubleOf(value)})` }
  return { select: sql`${raw(name)}(${value.read()})`, ...(numbers === 'double' && DOUBLE) }
}

/** In a form in which equal values are the same. */
function distinctly(value: Reading, numbers: Numbers): Fragment {
  if (numbers === 'digits') return orderKeyOf(value)
  return numbers === 'doubleDigits' ? doubleOf(value) : value.read()
}

/** By a function of ours, because SQLite does not round long digits to the nearest double. */
function doubleOf({ text }: Reading): Fragment {
  return sql`smalt_double(${text()})`
}

function nativeAggregate(op: Exclude<FieldAggregate, '$distinct'>, read: Fragment): Column {
  if (op === '$min' || op === '$max') return nativeColumn(sql`${raw(op.slice(1))}(${read})`)
  const digits = sql`cast(sum(${read}) as text)`
  const found = op === '$sum' ? digits : sql`smalt_average(${digits}, count(${read}))`
  return {
    select: sql`case typeof(sum(${read})) when 'integer' then ${found} else sum(${read}) end`,
    compared: orderKey,
  }
}

/** Integers as text, because JavaScript's numbers are exact only up to 2^53. */
function nativeColumn(select: Fragment): Column {
  return {
    select,
    compared: (column) => orderKey(`cast(${column} as text)`),
    shown: (column) =>
      `case typeof(${column}) when 'integer' then cast(${column} as text) else ${column} end`,
  }
}

/** Whole doubles are stored without a fraction, which SQLite reads as an integer. */
const DOUBLE: Pick<Column, 'shown'> = { shown: (column) => `cast(${column} as real)` }

const NUMBERS: Readonly<Record<NumberKind, (compared: string) => string>> = {
  count: (compared) => orderKey(`cast(${compared} as text)`),
  exact: (compared) => compared,
  double: (compared) => `smalt_double_number(cast(${compared} as real))`,
}

function orderKey(text: string): string {
  return `smalt_number(${text})`
}

function orderKeyOf(value: Reading): Fragment {
  return sql`smalt_number(${value.text()})`
}
