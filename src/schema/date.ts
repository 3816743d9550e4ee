/** Parses dates in several formats and prints them in one: `yyyyMMddTHH:mm:ss.SSS+0000`, which sorts by time. */

const CANONICAL = /^(\d{4})(\d{2})(\d{2})T(\d{2}):(\d{2}):(\d{2})\.(\d{3,})([+-]\d{2})(\d{2})$/
const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:([Zz])|([+-]\d{2}):(\d{2}))$/

/** The canonical text of a date, or undefined when the text is not a valid date. */
export function parseDate(text: string): string | undefined {
  const own = CANONICAL.exec(text)
  if (own) return canonicalText(own, own[8]!, own[9]!)
  const rfc = RFC3339.exec(text)
  if (rfc) return canonicalText(rfc, rfc[9] ?? '+00', rfc[10] ?? '00')
  return undefined
}

export function printDate(date: Date): string {
  const iso = date.toISOString()
  return `${iso.slice(0, 10).replaceAll('-', '')}T${iso.slice(11, 23)}+0000`
}

function canonicalText(
  parts: RegExpExecArray,
  offsetHours: string,
  offsetMinutes: string,
): string | undefined {
  const [, year, month, day, hour, minute, second, fraction = ''] = parts as unknown as Texts
  const finerThanMilliseconds = fraction.length > 3 && /[1-9]/.test(fraction.slice(3))
  const isClock = Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60
  const isOffset = Math.abs(Number(offsetHours)) < 24 && Number(offsetMinutes) < 60
  if (finerThanMilliseconds || !isClock || !isOffset || !isCalendarDay(+year, +month, +day)) return undefined
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0')
  const sign = offsetHours.startsWith('-') ? -1 : 1
  const offset = sign * (Math.abs(Number(offsetHours)) * 60 + Number(offsetMinutes))
  // Most dates are of this kind, and every write of a document casts all of its dates.
  if (offset === 0) return `${year}${month}${day}T${hour}:${minute}:${second}.${milliseconds}+0000`
  const local = new Date(0)
  local.setUTCFullYear(+year, +month - 1, +day)
  local.setUTCHours(+hour, +minute, +second, +milliseconds)
  const instant = new Date(local.getTime() - offset * 60_000)
  const fitsFourDigits = instant.getUTCFullYear() >= 0 && instant.getUTCFullYear() <= 9999
  return fitsFourDigits ? printDate(instant) : undefined
}

type Texts = readonly [
  all: string,
  year: string,
  month: string,
  day: string,
  hour: string,
  minute: string,
  second: string,
  fraction?: string,
]

function isCalendarDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return day <= (month === 2 && isLeapYear ? 29 : DAYS_OF_MONTHS[month - 1]!)
}

const DAYS_OF_MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
