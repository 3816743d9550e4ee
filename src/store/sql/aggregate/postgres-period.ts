/**
 * Periods of dates in PostgreSQL. Time zones are those of Node.js, because the database may have other rules, and lets an
 * hour that a clock shows twice begin with the second one.
 */
import type { Period } from '../../../schema/periods/period.ts'
import { REPEATED_DAYS, REPEATED_FROM, type ZoneTable } from '../../../schema/periods/zone-table.ts'
import { type Fragment, literal, param, raw, sql } from '../fragment.ts'
import { ownFunction } from './own-function.ts'

/**
 * The columns of a common table expression with the table of a time zone. Times are in seconds and days are counted from
 * `ORIGIN`, 400 years later than they are, so that no number is negative and no year is 0.
 */
export function zoneColumns({ offsets, beginnings }: ZoneTable): Fragment {
  const list = (values: readonly number[]): Fragment => param(`{${values.join()}}`)
  const times = offsets.bounds.map((second) => second + DAYS_BEFORE_1970 * DAY)
  const days = beginnings.bounds.map((day) => day + DAYS_BEFORE_1970)
  return sql`select ${list(times)}::bigint[] as times, ${list(offsets.values)}::int[] as offsets,
    ${list(days)}::int[] as days, ${list(beginnings.values)}::int[] as beginnings`
}

/** A Monday. */
const ORIGIN = "date '0001-01-01'"
const DAYS_BEFORE_1970 = 865_259
const DAY = 86_400

/**
 * The period of a date in a zone as a number: of the second with which an hour or a minute begins, or of the first local
 * day of a longer period. `zone` names the common table expression. The date is read once.
 */
export function periodInZone(date: Fragment, { period, zone }: PeriodInZone): Fragment {
  const offset = stepAt('at.second', REPEATED.seconds, { zone, bounds: 'times', values: 'offsets' })
  const from = sql`(select ${raw(SECONDS.name)}(${date}) as second offset 0) at`
  return sql`(select ${raw(numberOf(period, `(at.second + ${offset})`))} from ${from})`
}

export interface PeriodInZone {
  readonly period: Period
  readonly zone: string
}

function numberOf(period: Period, local: string): string {
  const day = `(${local} / ${DAY})::int`
  switch (period) {
    case 'minute':
      return `at.second - ${local} % 60`
    case 'hour':
      return `at.second - ${local} % 3600`
    case 'day':
      return day
    case 'week':
      return `${day} / 7 * 7`
    case 'month':
    case 'year':
      return `date_trunc('${period}', (${ORIGIN} + ${day})::timestamp)::date - ${ORIGIN}`
  }
}

/** The instant at which the period of a number begins. */
export function beginningInZone(number: string, { period, zone }: PeriodInZone): string {
  if (period === 'minute' || period === 'hour') return `${PRINTED.name}(${number})`
  const ahead = stepAt(number, REPEATED.days, { zone, bounds: 'days', values: 'beginnings' })
  return `${PRINTED.name}(${number}::bigint * ${DAY} - ${ahead})`
}

interface Stepping {
  readonly zone: string
  readonly bounds: string
  readonly values: string
}

/** As `stepAt` of the table. */
function stepAt(value: string, { from, every }: Repetition, { zone, bounds, values }: Stepping): string {
  const within = `case when ${value} < ${from} then ${value} else ${from} + (${value} - ${from}) % ${every} end`
  return `(select ${values} from ${zone})[width_bucket(${within}, (select ${bounds} from ${zone})) + 1]`
}

interface Repetition {
  readonly from: number
  readonly every: number
}

const REPEATED_DAY: Repetition = { from: REPEATED_FROM + DAYS_BEFORE_1970, every: REPEATED_DAYS }
const REPEATED = {
  days: REPEATED_DAY,
  seconds: { from: REPEATED_DAY.from * DAY, every: REPEATED_DAY.every * DAY },
}

export function periodInUtc(date: Fragment, period: Period): Fragment {
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

const YEAR_0 = 145_731

/**
 * The seconds of a stored date; null for another text. A day that the month does not have counts on into the next month.
 * Tests the same as `DATE`, in half of the time.
 */
const SECONDS = ownFunction(
  'seconds',
  '(x text) returns bigint',
  `begin
  return case when translate(x, '123456789', '000000000') = '00000000T00:00:00.000+0000'
    and substr(x, 5, 2) collate "C" between '01' and '12' and substr(x, 7, 2) collate "C" between '01' and '31'
    then (make_date(substr(x, 1, 4)::int + 400, substr(x, 5, 2)::int, 1) - ${ORIGIN} + substr(x, 7, 2)::int - 1) * ${DAY}::bigint
      + substr(x, 10, 2)::int * 3600 + substr(x, 13, 2)::int * 60 + substr(x, 16, 2)::int end;
end`,
)

/** A stored date. Before the year 0, which stored dates cannot express, it is the beginning of that year. */
const PRINTED = ownFunction(
  'instant',
  '(x bigint) returns text',
  `declare
  seconds bigint := greatest(x, ${YEAR_0}::bigint * ${DAY});
  day date := ${ORIGIN} + (seconds / ${DAY})::int;
  year int := extract(year from day)::int - 400;
  time interval := make_interval(secs => seconds % ${DAY});
begin
  return case when year < 10000 then lpad(year::text, 4, '0') else year::text end
    || to_char(day, 'MMDD') || 'T' || to_char(time, 'HH24:MI:SS') || '.000+0000';
end`,
)

export const PERIOD_FUNCTIONS = [SECONDS, PRINTED]
