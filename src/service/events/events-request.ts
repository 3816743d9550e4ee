/**
 * Parses the parameters of a request for events: each known one at most once, within its bounds; an empty one
 * counts as absent.
 */
import { invalidRequest } from '../../base/errors.ts'
import type { EventFilter } from '../../store/events.ts'

/** Which events, and after which number. */
export interface EventSelection {
  readonly filter: EventFilter
  readonly datasource?: string
  /** Exclusive; if absent, the operation chooses where to begin. */
  readonly since?: number
}

export interface EventsPageRequest extends EventSelection {
  readonly limit: number
  readonly waitMs: number
}

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1_000
const MAX_WAIT_SECONDS = 60

const SELECTING = ['entity', 'hook', 'operation', 'since', 'datasource'] as const
const PAGING = [...SELECTING, 'limit', 'wait'] as const
const OPERATIONS = ['insert', 'update', 'delete'] as const

export function readEventsPage(parameters: URLSearchParams): EventsPageRequest {
  const given = readParameters(parameters, PAGING)
  const limit = wholeNumber(given, 'limit', { least: 1, most: MAX_LIMIT }) ?? DEFAULT_LIMIT
  const wait = wholeNumber(given, 'wait', { least: 0, most: MAX_WAIT_SECONDS }) ?? 0
  return { ...selectionOf(given), limit, waitMs: wait * 1_000 }
}

/** `Last-Event-ID` overrides `since`, because a client that reconnects sends both. */
export function readFollowing(parameters: URLSearchParams, lastEventId: string | undefined): EventSelection {
  const given = readParameters(parameters, SELECTING)
  const selection = selectionOf(given)
  if (lastEventId === undefined || lastEventId === '') return selection
  return { ...selection, since: numberIn(lastEventId, 'Last-Event-ID', { least: 0, most: MOST }) }
}

/** A page of dead letters; `since` is the `next` of the previous page. */
export function readDeadPage(parameters: URLSearchParams): {
  readonly since: number
  readonly limit: number
} {
  const given = readParameters(parameters, ['since', 'limit'])
  const since = wholeNumber(given, 'since', { least: 0, most: MOST }) ?? 0
  return { since, limit: wholeNumber(given, 'limit', { least: 1, most: MAX_LIMIT }) ?? DEFAULT_LIMIT }
}

type Parameter = (typeof PAGING)[number]
type Given = Readonly<Partial<Record<Parameter, string>>>

function readParameters(parameters: URLSearchParams, known: readonly Parameter[]): Given {
  const given: Partial<Record<Parameter, string>> = {}
  for (const [name, value] of parameters) {
    const parameter = known.find((each) => each === name)
    if (!parameter) throw invalidRequest(`there is no parameter "${name}"; known are ${known.join(', ')}`)
    if (given[parameter] !== undefined) throw invalidRequest(`"${parameter}" is given twice`)
    if (value.includes('\0')) throw invalidRequest(`"${parameter}" holds a NUL character`)
    given[parameter] = value
  }
  return given
}

function selectionOf(given: Given): EventSelection {
  const { entity = '', hook = '', operation = '', datasource = '' } = given
  const known = OPERATIONS.find((each) => each === operation)
  if (operation !== '' && !known) throw invalidRequest(`"operation" must be one of ${OPERATIONS.join(', ')}`)
  const since = wholeNumber(given, 'since', { least: 0, most: MOST })
  return {
    filter: { ...(entity && { entity }), ...(hook && { hook }), ...(known && { operation: known }) },
    ...(datasource && { datasource }),
    ...(since !== undefined && { since }),
  }
}

const MOST = Number.MAX_SAFE_INTEGER

interface Range {
  readonly least: number
  readonly most: number
}

function wholeNumber(given: Given, name: Parameter, range: Range): number | undefined {
  const text = given[name]
  return text === undefined || text === '' ? undefined : numberIn(text, name, range)
}

function numberIn(text: string, name: string, { least, most }: Range): number {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : NaN
  if (number >= least && number <= most) return number
  const origin = name === 'Last-Event-ID' ? 'the id of an earlier event' : 'the "next" of an earlier response'
  throw invalidRequest(
    `"${name}" must be ${most === MOST ? `${origin}, such as 42` : `a whole number from ${least} to ${most}`}`,
  )
}
