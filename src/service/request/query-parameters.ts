/** The GET forms of find and explain: turns query parameters into the request that a body would contain. */
import { ServiceError, invalidRequest } from '../../base/errors.ts'
import { flagFrom } from '../../base/flag.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'

const KNOWN = ['Q', 'filter', 'P', 'S', 'from', 'to', 'maxResults', 'size', 'after', 'count', 'asOf'] as const
type Parameter = (typeof KNOWN)[number]

export function readSimpleRequest(parameters: URLSearchParams): JsonObject {
  const given = readParameters(parameters)
  if (given.Q && given.filter)
    throw invalidRequest('"Q" and "filter" are two spellings of one condition; send one')
  return {
    ...(given.Q && { query: readQuery(given.Q) }),
    ...(given.filter && { filter: given.filter }),
    projection: given.P
      ? given.P.split(',').map(readProjection)
      : { field: '*', include: true, recursive: true },
    ...(given.S && { sort: given.S.split(',').map(readSort) }),
    ...readBounds(given),
    ...readPage(given),
    ...(given.asOf && { asOf: given.asOf }),
  }
}

function readParameters(parameters: URLSearchParams): Partial<Record<Parameter, string>> {
  const given: Partial<Record<Parameter, string>> = {}
  for (const [name, value] of parameters) {
    const known = KNOWN.find((each) => each === name || each === name.toUpperCase())
    if (!known) throw invalidRequest(`there is no parameter "${name}"; known are ${KNOWN.join(', ')}`)
    if (given[known] !== undefined) throw invalidRequest(`"${known}" is given twice`)
    if (value.includes('\0')) throw invalidRequest(`"${known}" holds a NUL character`)
    given[known] = value.trim() === '' ? '' : value
  }
  return given
}

/** `field:value,value;field:value`: `;` means and, `,` means any of; both may be escaped with a backslash. */
function readQuery(text: string): JsonObject {
  const parts = splitUnescaped(text, ';').filter((part, i, all) => part !== '' || i < all.length - 1)
  const conditions = parts.map(readCondition)
  return conditions.length === 1 ? conditions[0]! : { $and: conditions }
}

function readCondition(part: string): JsonObject {
  const colon = part.indexOf(':')
  const [field, value] = [part.slice(0, colon), part.slice(colon + 1)]
  if (colon < 1 || value === '') throw invalidRequest('"Q" is made of field:value, joined by ";"')
  const values = splitUnescaped(value, ',')
  while (values.length > 1 && values.at(-1) === '') values.pop()
  if (values.length > 1) return { field, op: '$in', values: values.map(unescape) }
  return { field, op: '$eq', rvalue: unescape(value) }
}

function splitUnescaped(text: string, separator: string): string[] {
  if (!text.includes('\\')) return text.split(separator)
  const pieces = ['']
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!
    if (character === separator) pieces.push('')
    else pieces[pieces.length - 1] += character === '\\' ? character + (text[++i] ?? '') : character
  }
  return pieces
}

function unescape(text: string): string {
  return text.includes('\\') ? text.replaceAll(/\\([,;\\])/g, '$1') : text
}

/** `field:1` includes, `field:0` excludes; an `r` after it applies to everything below, too. */
function readProjection(item: string): JsonObject {
  const match = /^(.+):([01])(r?)$/s.exec(item)
  if (!match) {
    throw new ServiceError(
      'query-api:InvalidProjection',
      '"P" is made of field:1, field:1r, field:0 or field:0r, joined by ","',
    )
  }
  return { field: match[1]!, include: match[2] === '1', recursive: match[3] === 'r' }
}

function readSort(item: string): JsonObject {
  const match = /^(.+):\$?([ad])[a-z]*$/s.exec(item)
  if (!match)
    throw new ServiceError('query-api:InvalidSort', '"S" is made of field:a or field:d, joined by ","')
  return { [match[1]!]: match[2] === 'd' ? '$desc' : '$asc' }
}

function readBounds(given: Partial<Record<Parameter, string>>): JsonObject {
  const bounds: Record<string, Json> = {}
  for (const name of ['from', 'to', 'maxResults'] as const) {
    const text = given[name]
    if (text === undefined || text === '') continue
    if (!/^-?\d{1,15}$/.test(text)) throw invalidRequest(`"${name}" must be an integer, such as 10`)
    bounds[name] = Number(text)
  }
  return bounds
}

/** `count` alone is about a find without pages. */
function readPage({ size = '', after = '', count = '' }: Partial<Record<Parameter, string>>): JsonObject {
  if (size !== '' && !/^\d{1,15}$/.test(size)) throw invalidRequest('"size" must be an integer, such as 100')
  const isCounted = flagFrom('count', count === '' ? undefined : count)
  const counting = isCounted === undefined ? {} : { execution: { count: isCounted ? 'exact' : 'none' } }
  if (size === '' && after === '') return counting
  return { page: { ...(size !== '' && { size: Number(size) }), ...(after !== '' && { after }) }, ...counting }
}
