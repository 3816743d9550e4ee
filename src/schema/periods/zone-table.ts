/**
 * All offsets of a time zone as sorted lists, for a database that has no time zone data, or other data than Node.js.
 * Times are in seconds, days are counted from 1970-01-01.
 */
import { setOrClear } from '../../base/memo.ts'
import { dayOf, instantOf } from './period.ts'
import { type OffsetAt, changeBetween, offsetByFormat } from './zone-offsets.ts'

export interface ZoneTable {
  readonly offsets: Steps
  /** By local days: what to subtract from the beginning of a day for the instant at which it begins. */
  readonly beginnings: Steps
}

/** A value for each range of numbers: `values[0]` below the first bound, `values[i + 1]` from `bounds[i]` on. */
export interface Steps {
  readonly bounds: readonly number[]
  readonly values: readonly number[]
}

/** From this day on, both lists repeat after the 400 years of the Gregorian calendar. */
export const REPEATED_FROM = dayOf(2101, 1, 1)
export const REPEATED_DAYS = 146_097

/** Made once, which takes some ten milliseconds of processor time. */
export function zoneTable(timeZone: string): Promise<ZoneTable> {
  return tables.get(timeZone) ?? setOrClear(tables, timeZone, makeTable(timeZone), MAX_TABLES)
}

/** The value for a number. */
export function stepAt({ bounds, values }: Steps, at: number): number {
  let [low, high] = [0, bounds.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (bounds[middle]! <= at) low = middle + 1
    else high = middle
  }
  return values[low]!
}

const tables = new Map<string, Promise<ZoneTable>>()
/** More than there are zones: together they take about 5 MB, and to make one again costs more than an aggregate. */
const MAX_TABLES = 1_000

async function makeTable(timeZone: string): Promise<ZoneTable> {
  const search = offsetsOf(timeZone)
  let step = search.next()
  while (!step.done) {
    await new Promise(setImmediate)
    step = search.next()
  }
  const offsets = withLaterYears(step.value)
  return { offsets, beginnings: beginningsOf(offsets) }
}

const SECOND = 1_000
const DAY = 86_400

/** Clocks were set by the sun before. */
const FIRST_DAY = dayOf(1800, 1, 1)
/** All 14 calendars of a year occur in the 28 years from here on. No zone has other rules in later years. */
const FIRST_YEAR_OF_RULES = 2101
const LAST_YEAR_OF_RULES = 2128
/** The first change is never taken back, so it may be searched with larger steps. */
const FIRST_STEP = 60
/** No zone has changed its offset and changed it back within fewer than 6 days. */
const STEP = 5

/** Formatting one instant takes some microseconds. */
const FORMATTED_PER_SLICE = 500

/** Yields for other requests now and then. */
function* offsetsOf(timeZone: string): Generator<undefined, Steps, void> {
  const format = offsetByFormat(timeZone)
  let formatted = 0
  const offsetAt: OffsetAt = (second) => {
    formatted++
    return format(second * SECOND) / SECOND
  }
  const last = dayOf(LAST_YEAR_OF_RULES + 1, 1, 1) * DAY
  let at = FIRST_DAY * DAY
  const bounds: number[] = []
  const values = [offsetAt(at)]
  while (at < last) {
    if (formatted > FORMATTED_PER_SLICE) {
      yield
      formatted = 0
    }
    const next = Math.min(at + (bounds.length === 0 ? FIRST_STEP : STEP) * DAY, last)
    if (offsetAt(next) === values.at(-1)) {
      at = next
      continue
    }
    at = changeBetween(at, next, offsetAt)
    bounds.push(at)
    values.push(offsetAt(at))
  }
  return { bounds, values }
}

/** Later years have the changes of the year of rules with the same calendar. */
function withLaterYears({ bounds, values }: Steps): Steps {
  const all = { bounds: [...bounds], values: [...values] }
  const rules = new Map<string, Steps>()
  for (let year = FIRST_YEAR_OF_RULES; year <= LAST_YEAR_OF_RULES; year++) {
    const [begins, ends] = [dayOf(year, 1, 1) * DAY, dayOf(year + 1, 1, 1) * DAY]
    const from = bounds.findIndex((bound) => bound >= begins)
    const changes = from === -1 ? [] : bounds.slice(from).filter((bound) => bound < ends)
    rules.set(calendarOf(year), {
      bounds: changes.map((bound) => bound - begins),
      values: changes.map((_, i) => values[from + i + 1]!),
    })
  }
  const end = FIRST_YEAR_OF_RULES + 400
  for (let year = LAST_YEAR_OF_RULES + 1; year < end; year++) {
    const begins = dayOf(year, 1, 1) * DAY
    const changes = rules.get(calendarOf(year))!
    all.bounds.push(...changes.bounds.map((bound) => begins + bound))
    all.values.push(...changes.values)
  }
  return all
}

/** Equal for years with the same days of the week. */
function calendarOf(year: number): string {
  const [begins, ends] = [dayOf(year, 1, 1), dayOf(year + 1, 1, 1)]
  return `${begins % 7} ${ends - begins}`
}

function beginningsOf(offsets: Steps): Steps {
  const offsetAt: OffsetAt = (instant) => stepAt(offsets, Math.floor(instant / SECOND)) * SECOND
  const bounds: number[] = []
  const values = [offsets.values[0]!]
  let next = -Infinity
  for (const bound of offsets.bounds) {
    const day = Math.floor(bound / DAY)
    // Only near a change do days begin in another way than the one before.
    for (let near = Math.max(day - DAYS_NEAR, next); near <= day + DAYS_NEAR; near++) {
      const value = near * DAY - instantOf(near * DAY * SECOND, offsetAt) / SECOND
      if (value !== values.at(-1)) {
        bounds.push(near)
        values.push(value)
      }
      next = near + 1
    }
  }
  return { bounds, values }
}

const DAYS_NEAR = 3
