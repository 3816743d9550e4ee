/** The query parameters and headers of plain documents, as parts of data requests. */
import { invalidRequest } from '../../base/errors.ts'
import { flagFrom } from '../../base/flag.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import type { DocumentOptions } from '../service.ts'

/** Every field that the caller may read; references only if they are named. */
export const EVERYTHING: JsonObject = { field: '*', include: true, recursive: true }

export function readList(parameters: URLSearchParams): JsonObject {
  const filter = textOf(parameters, 'filter')
  const sort = textOf(parameters, 'sort')
  const after = textOf(parameters, 'after')
  const count = readFlag(parameters, 'count')
  return {
    ...(filter !== undefined && { filter }),
    ...(sort !== undefined && { sort: sort.split(',').map(readSortKey) }),
    projection: readFields(parameters),
    page: { size: readSize(parameters), ...(after !== undefined && { after }), count },
  }
}

export function readFields(parameters: URLSearchParams): Json {
  const fields = textOf(parameters, 'fields')
  if (fields === undefined) return EVERYTHING
  const paths = fields.split(',').map((path) => path.trim())
  if (paths.includes(''))
    throw invalidRequest('"fields" is made of paths, joined by ",", such as name,maker.city')
  return paths.map((field) => ({ field, include: true, recursive: true }))
}

export function readFlag(parameters: URLSearchParams, name: string): boolean {
  return flagFrom(name, textOf(parameters, name)) ?? false
}

/** By `?numbers=text` or `Prefer: numbers=text`; other preferences are not ours to refuse. */
export function wantsNumbersAsText({ parameters, prefer = '' }: DocumentOptions): boolean {
  const text = textOf(parameters, 'numbers')
  if (text !== undefined && text !== 'text') throw invalidRequest('"numbers" must be text, or absent')
  return text !== undefined || isPreferred(prefer)
}

export function isPreferred(prefer = ''): boolean {
  return prefer !== '' && prefer.split(',').some((each) => /^\s*numbers\s*=\s*"?text"?\s*$/i.test(each))
}

/** A blank parameter counts as absent. */
function textOf(parameters: URLSearchParams, name: string): string | undefined {
  const text = parameters.get(name)
  if (text?.includes('\0')) throw invalidRequest(`"${name}" holds a NUL character`)
  return text === null || text.trim() === '' ? undefined : text
}

function readSortKey(item: string): JsonObject {
  const key = item.trim()
  const field = key.replace(/^-/, '')
  if (field !== '') return { [field]: key.startsWith('-') ? '$desc' : '$asc' }
  throw invalidRequest('"sort" is made of fields, joined by ",", such as -date,name; "-" means descending')
}

function readSize(parameters: URLSearchParams): number {
  const text = textOf(parameters, 'size')
  if (text === undefined) return DEFAULT_SIZE
  const size = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (size >= 1 && size <= MAX_SIZE) return size
  throw invalidRequest(`"size" must be an integer from 1 to ${MAX_SIZE}, such as 100`)
}

const DEFAULT_SIZE = 100
const MAX_SIZE = 10_000
