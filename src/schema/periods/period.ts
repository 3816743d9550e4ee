/** Periods of dates: the instant at which the year, month, week, day, hour or minute of a stored date begins. */

import { type OffsetAt, changeBetween, offsetsIn } from './zone-offsets.ts'

export const PERIODS = ['year', 'month', 'week', 'day', 'hour', 'minute'] as const
export type Period = (typeof PERIODS)[number]

export function isPeriod(name: string): name is Period {
  return (PERIODS as readonly string[]).includes(name)
}

/** Returns undefined for a text that is no stored date. */
export type PeriodStart = (date: string) => string | undefined

/** Without a time zone, periods begin in UTC. */
export function periodStart(period: Period, timeZone?: string): PeriodStart {
  const start = timeZone === undefined ? startIn(period, () => 0) : startIn(period, offsetsIn(timeZone))
  let last: { readonly date: string; readonly begins: string | undefined } | undefined
  return (date) => {
    if (last?.date === date) return last.begins
    const ms = isStoredDate(date) ? millisecondsOf(date) : undefined
    const begins = ms === undefined ? undefined : printInstant(start(ms))
    last = { date, begins }
    return begins
  }
}

/**
 * The name of a time zone as this service knows it; undefined for UTC. Throws a RangeError for a name that is not in the
 * IANA database, and for a mere offset.
 */
export function knownTimeZone(name: string): string | undefined {
  if (!/^[A-Za-z]/.test(name)) throw new RangeError(`no time zone: ${name}`)
  const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
  return UTC.has(timeZone) ? undefined : timeZone
}

const UTC: ReadonlySet<string> = new Set([
  'UTC',
  'Etc/UTC',
  'GMT',
  'Etc/GMT',
  'Etc/UCT',
  'UCT',
  'Zulu',
  'Etc/Zulu',
])

/** Whether a text has the form of a stored date; the SQL of both engines tests the same. */
export function isStoredDate(text: string): boolean {
  return STORED.test(text)
}

const STORED = /^\d{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])T\d\d:\d\d:\d\d\.\d{3}\+0000$/

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

function startIn(period: Period, offsetAt: OffsetAt): (instant: number) => number {
  return (instant) => {
    const offset = offsetAt(instant)
    const local = instant + offset
    // The two hours of a clock that is set back are different hours.
    if (period === 'hour' || period === 'minute')
      return floorTo(local, period === 'hour' ? HOUR : MINUTE) - offset
    return instantOf(firstDay(Math.floor(local / DAY), period) * DAY, offsetAt)
  }
}

function floorTo(value: number, unit: number): number {
  return Math.floor(value / unit) * unit
}

/** Days are counted from 1970-01-01, a Thursday. */
function firstDay(day: number, period: 'year' | 'month' | 'week' | 'day'): number {
  if (period === 'day') return day
  if (period === 'week') return day - ((((day + 3) % 7) + 7) % 7)
  const { year, month } = civilOf(day)
  return dayOf(year, period === 'year' ? 1 : month, 1)
}

/**
 * The first instant with at least this local time. A clock that is set back shows it twice; one that is set forward may
 * skip it, and the period then begins with the change.
 */
export function instantOf(local: number, offsetAt: OffsetAt): number {
  const before = local - offsetAt(local - DAY)
  const after = local - offsetAt(local + DAY)
  if (before === after) return before
  const isShown = (instant: number): boolean => instant + offsetAt(instant) === local
  const shown = [before, after].filter(isShown)
  return shown.length > 0
    ? Math.min(...shown)
    : changeBetween(Math.min(before, after), Math.max(before, after), offsetAt)
}

function millisecondsOf(date: string): number {
  const part = (start: number, end: number): number => Number(date.slice(start, end))
  // A day that the month does not have counts on into the next month.
  const day = dayOf(part(0, 4), part(4, 6), 1) + part(6, 8) - 1
  return day * DAY + part(9, 11) * HOUR + part(12, 14) * MINUTE + part(15, 17) * SECOND + part(18, 21)
}

/** A period that began before the year 0, which stored dates cannot express, begins with it. */
function printInstant(instant: number): string {
  const ms = Math.max(instant, FIRST_INSTANT)
  const { year, month, day } = civilOf(Math.floor(ms / DAY))
  const within = ms - floorTo(ms, DAY)
  const two = (value: number): string => String(value).padStart(2, '0')
  const time = `${two(Math.floor(within / HOUR))}:${two(Math.floor(within / MINUTE) % 60)}:${two(Math.floor(within / SECOND) % 60)}`
  return `${String(year).padStart(4, '0')}${two(month)}${two(day)}T${time}.${String(within % SECOND).padStart(3, '0')}+0000`
}

/** The days from 1970-01-01 to a date of the Gregorian calendar, whose cycle of 400 years has 146097 days. */
export function dayOf(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const cycle = Math.floor(y / 400)
  const yearOfCycle = y - cycle * 400
  // Years begin in March, so that a leap day is the last day of a year.
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfCycle =
    yearOfCycle * 365 + Math.floor(yearOfCycle / 4) - Math.floor(yearOfCycle / 100) + dayOfYear
  return cycle * 146_097 + dayOfCycle - 719_468
}

function civilOf(days: number) {
  const shifted = days + 719_468
  const cycle = Math.floor(shifted / 146_097)
  const dayOfCycle = shifted - cycle * 146_097
  const yearOfCycle = Math.floor(
    (dayOfCycle -
      Math.floor(dayOfCycle / 1460) +
      Math.floor(dayOfCycle / 36_524) -
      Math.floor(dayOfCycle / 146_096)) /
      365,
  )
  const dayOfYear =
    dayOfCycle - (365 * yearOfCycle + Math.floor(yearOfCycle / 4) - Math.floor(yearOfCycle / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  return { year: yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0), month, day }
}

const FIRST_INSTANT = dayOf(0, 1, 1) * DAY
