/** Parses the timestamps of `asOf`: a date, or a document version, which contains the time since which it is valid. */
import { ServiceError } from '../../base/errors.ts'
import { parseDate } from '../../schema/date.ts'

/** Microseconds since 1970, the unit of document versions. */
export function readAsOf(text: string, at: string): number {
  const moment = timestampOfDate(text) ?? timestampOfVersion(text)
  if (moment !== undefined) return moment
  const message =
    '"asOf" is a date such as 2026-01-02T03:04:05.678Z, to the microsecond at most, or a documentVersion'
  throw new ServiceError('crud:InvalidRequest', message, { at })
}

/**
 * Most dates have milliseconds only. Such a date includes all writes of that millisecond, as its reader would
 * expect.
 */
function timestampOfDate(text: string): number | undefined {
  const fraction = /\.(\d{4,6})(?=\D)/.exec(text)?.[1]
  const date = parseDate(fraction ? text.replace(`.${fraction}`, `.${fraction.slice(0, 3)}`) : text)
  if (date === undefined) return undefined
  const [, year, month, day, time] = /^(\d{4})(\d\d)(\d\d)T(.{12})/.exec(date)!
  const milliseconds = Date.parse(`${year}-${month}-${day}T${time}Z`)
  return milliseconds * 1000 + (fraction ? Number(fraction.slice(3).padEnd(3, '0')) : 999)
}

/** The part before the colon, which identifies the document, is ignored. */
function timestampOfVersion(text: string): number | undefined {
  const moment = Number(/:(\d{12,16})$/.exec(text)?.[1])
  return Number.isSafeInteger(moment) ? moment : undefined
}
