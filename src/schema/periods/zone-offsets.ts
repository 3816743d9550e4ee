/** Offsets of time zones, in milliseconds, from the time zone data of Node.js. */
import { setOrClear } from '../../base/memo.ts'

/** Milliseconds to add to an instant for the local time. */
export type OffsetAt = (instant: number) => number

const SECOND = 1_000
const DAY = 86_400 * SECOND

/** The offsets of a zone, which are kept by day: for dates that are close to each other. */
export function offsetsIn(timeZone: string): OffsetAt {
  return zones.get(timeZone) ?? setOrClear(zones, timeZone, createOffsets(timeZone), MAX_KNOWN_ZONES)
}

/** The offsets that were computed, by time zone. */
const zones = new Map<string, OffsetAt>()
const MAX_KNOWN_ZONES = 50

const MAX_KNOWN_DAYS = 20_000

/** The offset at the beginning of a day, and the instant during the day at which it changes, if it does. */
interface DayOfOffsets {
  readonly first: number
  readonly last: number
  readonly change: number
}

/** Formatting is slow, so the offsets of a day in UTC are computed once. No zone changes its offset twice on one day. */
function createOffsets(timeZone: string): OffsetAt {
  const offsetAt = offsetByFormat(timeZone)
  const known = new Map<number, DayOfOffsets>()
  const offsetsOn = (day: number): DayOfOffsets => {
    const [begins, ends] = [day * DAY, (day + 1) * DAY]
    const first = known.get(day - 1)?.last ?? offsetAt(begins)
    const last = offsetAt(ends)
    const change = first === last ? Infinity : changeBetween(begins, ends, offsetAt)
    return setOrClear(known, day, { first, last, change }, MAX_KNOWN_DAYS)
  }
  return (instant) => {
    const day = Math.floor(instant / DAY)
    const { first, last, change } = known.get(day) ?? offsetsOn(day)
    return instant < change ? first : last
  }
}

/** The instant of the only change of the offset between two instants, by bisection. */
export function changeBetween(low: number, high: number, offsetAt: OffsetAt): number {
  const offset = offsetAt(low)
  let [from, to] = [low, high]
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2)
    if (offsetAt(middle) === offset) from = middle
    else to = middle
  }
  return to
}

/** By formatting the instant: no other part of Node.js 24 knows the offsets of a time zone. */
export function offsetByFormat(timeZone: string): OffsetAt {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  // Only one instant is formatted to parts, which takes three times as long as to text.
  const order = format.formatToParts(0).flatMap(({ type }) => (type === 'literal' ? [] : [type]))
  const [day, hour, minute, second] = (['day', 'hour', 'minute', 'second'] as const).map((type) =>
    order.indexOf(type),
  )
  return (instant) => {
    const local = format.format(instant).match(/\d+/g)!.map(Number)
    const time = (local[hour!]! * 60 + local[minute!]!) * 60 + local[second!]!
    const days = daysAhead(local[day!]!, new Date(instant).getUTCDate())
    return (
      days * DAY + time * SECOND - (Math.floor(instant / SECOND) * SECOND - Math.floor(instant / DAY) * DAY)
    )
  }
}

/** The difference between days of the month that are at most one day apart. */
function daysAhead(day: number, other: number): number {
  const difference = day - other
  return Math.abs(difference) <= 1 ? difference : -Math.sign(difference)
}
