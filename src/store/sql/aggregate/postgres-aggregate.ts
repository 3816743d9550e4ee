/** PostgreSQL's part of aggregations: `numeric` is exact, and functions of ours round and convert. */
import type { FieldAggregate, Truncation } from '../../../lang/aggregate.ts'
import { keepsScale } from '../../../lang/aggregate.ts'
import { type Fragment, raw, sql } from '../fragment.ts'
import type { AggregateDialect, Column, RowValue } from './aggregate.ts'
import { type OwnFunction, ownFunction } from './own-function.ts'
import { PERIOD_FUNCTIONS, beginningInZone, periodInUtc, periodInZone } from './postgres-period.ts'

export interface PostgresGrouping {
  /**
   * Whether texts are grouped as a whole. Otherwise they are grouped by their columns, which contain only the beginning of
   * a long one: an index then has everything, and no document is read.
   */
  readonly isWhole: boolean
  /** The name of the common table expression with the table of a time zone. */
  readonly zone: (timeZone: string) => string
}

export function postgresAggregates(grouping: PostgresGrouping): AggregateDialect {
  return {
    key: (value, truncate) =>
      truncate ? periodColumn(value, truncate, grouping) : keyColumn(value, grouping),
    aggregate: (op, value) => aggregateColumn(op, value),
    number: (compared, kind) => (kind === 'double' ? `${FUNCTIONS.digits.name}(${compared})` : compared),
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

/** Groups are numbers, and only the instants of groups are printed. No two periods of a zone begin at the same instant. */
function periodColumn(
  { read }: RowValue,
  { period, timeZone }: Truncation,
  { zone }: PostgresGrouping,
): Column {
  if (timeZone === undefined) return { select: periodInUtc(read, period), compared: text }
  const inZone = { period, zone: zone(timeZone) }
  const shown = (column: string): string => beginningInZone(column, inZone)
  return { select: periodInZone(read, inZone), shown, compared: (column) => text(shown(column)) }
}

function keyColumn(value: RowValue, { isWhole }: PostgresGrouping): Column {
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
  /**
   * The number with the digits that JavaScript prints: the fewest that denote the double. PostgreSQL prints one more where
   * only a number halfway to the next double has so few. Infinity is the number that stands for it in a group.
   */
  digits: ownFunction(
    'digits',
    '(x double precision) returns numeric',
    `declare
  result numeric; unit numeric; shorter numeric;
begin
  if x = 'Infinity' then return 1e1999; end if;
  if x = '-Infinity' then return -1e1999; end if;
  result := trim_scale(x::text::numeric);
  while result <> 0 loop
    unit := ('1e' || 1 - scale(result) + length(result::text) - length(rtrim(result::text, '0')))::numeric;
    shorter := trim_scale(div(result, unit) * unit);
    if ${NEAREST.name}(shorter) <> x then shorter := shorter + sign(result) * unit; end if;
    exit when ${NEAREST.name}(shorter) <> x;
    result := trim_scale(shorter);
  end loop;
  return result;
end`,
  ),
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
  return [...Object.values(FUNCTIONS), ...PERIOD_FUNCTIONS]
}
