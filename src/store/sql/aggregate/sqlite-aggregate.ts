/**
 * SQLite's part of aggregations. Integers are added by the engine; decimals, doubles and integers outside of 64 bits go
 * through our functions, which are exact.
 */
import type { FieldAggregate, Truncation } from '../../../lang/aggregate.ts'
import { type Fragment, param, raw, sql } from '../fragment.ts'
import type { AggregateDialect, Column, RowValue } from './aggregate.ts'
import { jsonTextOf } from '../sqlite-dialect.ts'

/**
 * `isExact` reads every number from its digits. Otherwise integers are read natively; a sum that overflows then fails,
 * and a number that another version stored as a decimal is returned as a number instead of a text: both have to be
 * read again.
 */
export function sqliteAggregates(isExact: boolean): AggregateDialect {
  const numbersOf = (value: RowValue): Numbers => {
    const { field, type } = value
    if (field.type.family !== 'number') return 'none'
    if (field.type.name === 'double') return type === 'double' ? 'double' : 'doubleDigits'
    return type === 'integer' && !isExact ? 'native' : 'digits'
  }
  return {
    key: (value, truncate) => keyColumn(value, numbersOf(value), truncate),
    aggregate: (op, value) => aggregateColumn(op, value, numbersOf(value)),
    joined: ({ from, where }) => ({ from: sql`, ${from}`, terms: [where] }),
    nothing: { json: raw('null'), present: raw('false') },
    watch: (position) => sql`(${position} % 64 <> 63 or smalt_alive(${position}))`,
  }
}

/** How a number is read: natively, from its digits, or as a double; a double may be one of the digits of another type. */
type Numbers = 'none' | 'native' | 'digits' | 'double' | 'doubleDigits'

function keyColumn(value: RowValue, numbers: Numbers, truncate: Truncation | undefined): Column {
  if (truncate) {
    const { period, timeZone = null } = truncate
    return { select: sql`smalt_period(${value.read}, ${param(period)}, ${param(timeZone)})` }
  }
  if (numbers === 'native') return nativeColumn(value.read)
  if (numbers === 'doubleDigits') {
    const asDouble = (_: string, beside: string): string => `cast(${beside} as real)`
    return {
      select: orderKeyOf(value),
      beside: sql`smalt_max(${textOf(value)})`,
      compared: asDouble,
      shown: asDouble,
    }
  }
  if (numbers !== 'digits') return { select: value.read, ...(numbers === 'double' && DOUBLE) }
  return { select: orderKeyOf(value), beside: sql`smalt_max(${textOf(value)})`, shown: (_, beside) => beside }
}

function aggregateColumn(op: FieldAggregate, value: RowValue, numbers: Numbers): Column {
  if (op === '$distinct') {
    return { select: sql`count(distinct ${hasDigits(numbers) ? orderKeyOf(value) : value.read})` }
  }
  const name = op.slice(1)
  if (numbers === 'native') return nativeAggregate(op, value.read)
  if (numbers === 'digits')
    return { select: sql`${raw(`smalt_${name}`)}(${textOf(value)})`, compared: orderKey }
  if (op === '$sum' || op === '$avg') return { select: sql`${raw(`smalt_double_${name}`)}(${textOf(value)})` }
  if (numbers === 'doubleDigits') {
    return { select: sql`cast(${raw(`smalt_${name}`)}(${textOf(value)}) as real)` }
  }
  return { select: sql`${raw(name)}(${value.read})`, ...(numbers === 'double' && DOUBLE) }
}

function hasDigits(numbers: Numbers): boolean {
  return numbers === 'digits' || numbers === 'doubleDigits'
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

function orderKey(text: string): string {
  return `smalt_number(${text})`
}

function orderKeyOf(value: RowValue): Fragment {
  return sql`smalt_number(${textOf(value)})`
}

function textOf({ base, steps }: RowValue): Fragment {
  return jsonTextOf(base, steps)
}
