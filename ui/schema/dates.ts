/** Dates: the service writes `20260102T03:04:05.678+0000`, people read and write RFC 3339. */

const STORED = /^(-?\d{4,})(\d\d)(\d\d)T(\d\d:\d\d:\d\d)\.(\d{3})([+-]\d\d)(\d\d)$/

/** `2026-01-02T03:04:05.678Z`; any other text stays as it is. */
export function toRfc3339(text: string): string {
  const match = STORED.exec(text)
  if (!match) return text
  const [, year, month, day, time, milliseconds, hours, minutes] = match
  const offset = hours === '+00' && minutes === '00' ? 'Z' : `${hours}:${minutes}`
  return `${year}-${month}-${day}T${time}.${milliseconds}${offset}`
}

/** Shorter, for tables: without a time at midnight, without milliseconds that are zero. */
export function toShortDate(text: string): string {
  const date = toRfc3339(text)
  return date
    .replace(/T00:00:00\.000Z$/, '')
    .replace(/\.000Z$/, 'Z')
    .replace('T', ' ')
}

export function isRfc3339(text: string): boolean {
  return DATE.test(text) && !Number.isNaN(Date.parse(text))
}

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/
