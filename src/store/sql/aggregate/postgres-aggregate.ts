/** PostgreSQL's part of aggregations: `numeric` is exact, and functions of ours round and convert. */
import { createHash } from 'node:crypto'
import type { FieldAggregate, Truncation } from '../../../lang/aggregate.ts'
import { keepsScale } from '../../../lang/aggregate.ts'
import type { Period } from '../../../schema/period.ts'
import type { AggregateDialect, Column, RowValue } from './aggregate.ts'
import { type Fragment, literal, raw, sql } from '../fragment.ts'

/**
 * `isWhole` groups by whole texts. Otherwise texts are grouped by their columns, which contain only the beginning of a
 * long one: an index then has everything, and no document is read.
 */
export function postgresAggregates(isWhole: boolean): AggregateDialect {
  return {
    key: (value, truncate) => keyColumn(value, { truncate, isWhole }),
    aggregate: (op, value) => aggregateColumn(op, value),
    // A common table expression may have to be joined to itself, so the rows are selected in a sub-select.
    joined({ from, where, inner }) {
      const alias = raw(inner.qualifier.slice(0, -1))
      return {
        from: sql` cross join lateral (select ${alias}.* from ${from} where ${where}) ${alias}`,
        terms: [],
      }
    },
    nothing: { json: raw('null::jsonb'), present: raw('false') },
  }
}

interface Keying {
  readonly truncate: Truncation | undefined
  readonly isWhole: boolean
}

function keyColumn(value: RowValue, { truncate, isWhole }: Keying): Column {
  if (truncate) return { select: truncated(value.read, truncate), compared: text }
  const { beginning } = value.read
  if (beginning && !isWhole) {
    const isCut = (column: string): string => `char_length(${column}) > ${beginning.length}`
    return { ...plain(value, beginning.text), isCut }
  }
  if (value.field.type.family !== 'number') return plain(value, value.read)
  if (isRounded(value)) return { select: nearest(value.read) }
  if (value.field.type.name === 'double') return { select: value.read, compared: double }
  return hasScale(value)
    ? { select: value.read, beside: scaleOf(value), shown: (column, scale) => `round(${column}, ${scale})` }
    : { select: value.read }
}

function aggregateColumn(op: FieldAggregate, value: RowValue): Column {
  const { read, field } = value
  const isDouble = field.type.name === 'double'
  switch (op) {
    case '$distinct':
      return { select: sql`count(distinct ${isRounded(value) ? nearest(read) : read})` }
    case '$sum':
      return { select: isDouble ? doubleSum(read) : sql`sum(${read})` }
    case '$avg': {
      const average = sql`${raw(FUNCTIONS.average.name)}(sum(${read}), count(${read}))`
      const mean = sql`${raw(FUNCTIONS.mean.name)}(sum(${exactly(read)}), count(${exactly(read)}))`
      return { select: isDouble ? mean : average }
    }
    case '$min':
    case '$max': {
      const extreme = sql`${raw(op.slice(1))}(${read})`
      return hasScale(value) ? { select: sql`round(${extreme}, ${scaleOf(value)})` } : plain(value, extreme)
    }
  }
}

/** Whether a value is that of a double, and another version may have stored more digits: equal doubles are one value. */
function isRounded({ field, type }: RowValue): boolean {
  return field.type.name === 'double' && type !== 'double'
}

function nearest(value: Fragment): Fragment {
  return sql`${raw(FUNCTIONS.nearest.name)}(${value})`
}

function hasScale({ field }: RowValue): boolean {
  return keepsScale(field.type.name)
}

/** The largest scale of the values of a group. */
function scaleOf({ read }: RowValue): Fragment {
  return sql`max(scale(${read}))`
}

function plain({ field }: RowValue, select: Fragment): Column {
  const { family, name } = field.type
  if (name === 'double') return { select, compared: double }
  return family === 'text' || family === 'date' ? { select, compared: text } : { select }
}

function double(column: string): string {
  return `${FUNCTIONS.nearest.name}(${column})`
}

function text(column: string): string {
  return `(${column} collate "C")`
}

function doubleSum(read: Fragment): Fragment {
  return sql`${raw(FUNCTIONS.nearest.name)}(sum(${exactly(read)}))`
}

function exactly(read: Fragment): Fragment {
  return sql`${raw(FUNCTIONS.exactly.name)}(${read})`
}

/** In UTC; other time zones are those of Node.js, which may have other rules than the database. */
function truncated(date: Fragment, { period }: Truncation): Fragment {
  const isDate = sql`${date} ~ ${literal(DATE)}`
  return sql`(case when ${isDate} then ${beginning(date, period)} end)`
}

/** As `isStoredDate`. */
const DATE = String.raw`^\d{4}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])T\d\d:\d\d:\d\d\.\d{3}\+0000$`
const FIRST_DAY = '00000101T00:00:00.000+0000'
const FIRST_MONDAY = '00000103'

function beginning(date: Fragment, period: Period): Fragment {
  if (period === 'week') return beginningOfWeek(date)
  const kept = KEPT[period]
  return sql`(substr(${date}, 1, ${raw(String(kept))}) || ${literal(FIRST_DAY.slice(kept))}) collate "C"`
}

/** How much of a date belongs to the name of its period. */
const KEPT: Readonly<Record<Exclude<Period, 'week'>, number>> = {
  year: 4,
  month: 6,
  day: 8,
  hour: 11,
  minute: 14,
}

/** Computed 400 years later, when the calendar repeats, because the database has no year 0. */
function beginningOfWeek(date: Fragment): Fragment {
  const part = (from: number, length: number): Fragment =>
    sql`substr(${date}, ${raw(`${from}, ${length}`)})::int`
  const day = sql`(make_date(${part(1, 4)} + 400, ${part(5, 2)}, 1) + ${part(7, 2)} - 1)`
  const monday = sql`date_trunc('week', ${day}::timestamp)`
  const printed = sql`lpad((extract(year from ${monday})::int - 400)::text, 4, '0') || to_char(${monday}, 'MMDD')`
  return sql`(case when ${date} < ${literal(FIRST_MONDAY)} then ${literal(FIRST_DAY)} else ${printed} || ${literal(FIRST_DAY.slice(8))} end) collate "C"`
}

export interface OwnFunction {
  /** Contains a digest of its definition: an existing function never changes. */
  readonly name: string
  /** SQL that creates it in `schema`, a quoted identifier. */
  readonly create: (schema: string) => string
}

function ownFunction(purpose: string, signature: string, body: string): OwnFunction {
  const name = `smalt_${purpose}_${createHash('sha256')
    .update(signature + body)
    .digest('hex')
    .slice(0, 8)}`
  return {
    name,
    create: (schema) =>
      `create or replace function ${schema}.${name}${signature} language plpgsql immutable strict parallel safe as $$${body}$$`,
  }
}

/** Sums from this number on are nearer to infinity than to the largest double. */
const TOO_LARGE = 2n ** 1024n - 2n ** 970n
/** Half of the smallest double, rounded up: numbers up to it are nearer to 0. */
const TOO_SMALL = '2.470328229206232720882843964341106861826e-324'

/** The nearest double, or infinity; positive for NaN, which is larger than all numbers. */
const NEAREST = ownFunction(
  'nearest',
  '(x numeric) returns double precision',
  `begin
  if abs(x) <= ${TOO_SMALL} then return 0; end if;
  if abs(x) >= ${TOO_LARGE} then return case when x < 0 then '-Infinity' else 'Infinity' end; end if;
  return x::double precision;
end`,
)

const FUNCTIONS = {
  nearest: NEAREST,
  /** The double nearest to a sum, divided as doubles are. */
  mean: ownFunction(
    'mean',
    '(total numeric, n bigint) returns double precision',
    `begin
  if abs(total) <= n * ${TOO_SMALL} then return 0; end if;
  return ${NEAREST.name}(total) / n;
end`,
  ),
  /** Rounds half to even, to 20 significant digits. */
  average: ownFunction(
    'average',
    '(total numeric, n bigint) returns numeric',
    `declare
  units numeric := trunc(abs(total) * ('1e' || scale(total))::numeric);
  shift int := 20 - (length(units::text) - length(n::text));
  shifted numeric := units * ('1e' || shift)::numeric;
  result numeric := div(shifted, n);
begin
  if total = 0 then return 0; end if;
  if result >= 1e20 then
    shift := shift - 1;
    shifted := units * ('1e' || shift)::numeric;
    result := div(shifted, n);
  end if;
  shifted := 2 * (shifted - result * n);
  if shifted > n or (shifted = n and mod(result, 2) = 1) then result := result + 1; end if;
  return trim_scale(sign(total) * result * ('1e' || -(shift + scale(total)))::numeric);
end`,
  ),
  /** All digits of the nearest double, a power of two times an integer, or infinity. A sum of both infinities is NaN. */
  exactly: ownFunction(
    'exactly',
    '(x numeric) returns numeric',
    `declare
  bits bigint; biased int; significand numeric; shift int;
begin
  if abs(x) <= ${TOO_SMALL} then return 0; end if;
  if abs(x) >= ${TOO_LARGE} then return case when x < 0 then '-Infinity' else 'Infinity' end; end if;
  bits := ('x' || encode(float8send(x::double precision), 'hex'))::bit(64)::bigint;
  biased := ((bits >> 52) & 2047)::int;
  significand := (bits & 4503599627370495) + case when biased = 0 then 0 else 4503599627370496 end;
  shift := greatest(biased, 1) - 1075;
  if shift >= 0 then significand := significand * round(power(2::numeric, shift));
  else significand := significand * round(power(5::numeric, -shift)) * ('1e' || shift)::numeric;
  end if;
  return trim_scale(case when bits < 0 then -significand else significand end);
end`,
  ),
}

export function aggregateFunctions(): readonly OwnFunction[] {
  return Object.values(FUNCTIONS)
}
