/** Parts of a request as the command line spells them: filter, sort, fields, target. */
import type { Json, JsonObject } from '../../base/json/json.ts'
import { aboutText, parseJson } from '../../base/json/parse-json.ts'
import { usageError } from '../usage-error.ts'

const MAX_DEPTH = 64

/** A text that begins with a brace is a query in JSON; any other one is a filter such as `city = "Bern"`. */
export function conditionFrom(text: string | undefined): JsonObject {
  if (text === undefined || text.trim() === '') return {}
  return text.trimStart().startsWith('{') ? { query: jsonFrom(text, 'the query') } : { filter: text }
}

/** `-salary,name`: descending by salary, then ascending by name. */
export function sortFrom(text: string | undefined): JsonObject {
  if (text === undefined) return {}
  const keys = text.split(',').map((each): JsonObject => {
    const key = each.trim()
    const field = key.replace(/^[-+]/, '')
    if (field === '') throw usageError('--sort must be fields separated by commas, such as -salary,name')
    return { [field]: key.startsWith('-') ? '$desc' : '$asc' }
  })
  return { sort: keys }
}

/** Everything, unless fields are named. */
export function projectionFrom(fields: string | undefined): JsonObject {
  if (fields === undefined) return { projection: { field: '*', recursive: true } }
  const paths = fieldsFrom(fields)
  return { projection: paths.map((field) => ({ field, recursive: true })) }
}

export function fieldsFrom(text: string): readonly string[] {
  const paths = text.split(',').map((each) => each.trim())
  if (paths.includes(''))
    throw usageError('--fields must be fields separated by commas, such as name,address.city')
  return paths
}

export function countFrom(flag: string, text: string | undefined, least = 1): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text)
  throw usageError(`${flag} must be a whole number from ${least} on, not ${text}`)
}

export function jsonFrom(text: string, what: string): Json {
  try {
    return parseJson(text, MAX_DEPTH)
  } catch (error) {
    throw usageError(aboutText(error as Error, what))
  }
}

/** `/data/find/employee/1.0.0`; without a version the default one applies. */
export function dataPath(operation: string, entity: string, version: string | undefined): string {
  const path = `/data/${operation}/${encodeURIComponent(entity)}`
  return version === undefined ? path : `${path}/${encodeURIComponent(version)}`
}
