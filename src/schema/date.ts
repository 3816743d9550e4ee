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
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const fraction = parts[7] ?? ''
  const finerThanMilliseconds = /[1-9]/.test(fraction.slice(3))
  const isClock = hour < 24 && minute < 60 && second < 60
  const isOffset = Math.abs(Number(offsetHours)) < 24 && Number(offsetMinutes) < 60
  if (finerThanMilliseconds || !isClock || !isOffset || !isCalendarDay(year, month, day)) return undefined
  const sign = offsetHours.startsWith('-') ? -1 : 1
  const offset = sign * (Math.abs(Number(offsetHours)) * 60 + Number(offsetMinutes))
  const local = new Date(0)
  local.setUTCFullYear(year, month - 1, day)
  local.setUTCHours(hour, minute, second, Number(fraction.slice(0, 3).padEnd(3, '0')))
  const instant = new Date(local.getTime() - offset * 60_000)
  const fitsFourDigits = instant.getUTCFullYear() >= 0 && instant.getUTCFullYear() <= 9999
  return fitsFourDigits ? printDate(instant) : undefined
}

function isCalendarDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false
  const date = new Date(0)
  date.setUTCFullYear(year, month, 0)
  return day <= date.getUTCDate()
}
