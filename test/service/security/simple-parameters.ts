/** Parts of a request as the query string of a GET, where it can say them. */
import { type Json, type JsonObject, isArray, isObject } from '../../../src/base/json/json.ts'
import type { Parts } from './entry-points.ts'

export function simpleParameters({ query, sort, projection }: Parts): string | undefined {
  const given = {
    Q: query === undefined ? undefined : queryText(query),
    P: projection === undefined ? undefined : listText(projection, fieldText),
    S: sort === undefined ? undefined : listText(sort, sortText),
  }
  const parameters = new URLSearchParams()
  for (const [name, text] of Object.entries(given)) {
    if (text === null) return undefined
    if (text !== undefined) parameters.set(name, text)
  }
  return parameters.toString()
}

/** Null where there are no words for it. */
function queryText(query: Json): string | null {
  if (!isObject(query)) return null
  const { $and, field, op, rvalue, values } = query
  if (isArray($and)) {
    const texts = $and.map(queryText)
    return texts.length > 0 && texts.every((text) => text !== null) ? texts.join(';') : null
  }
  if (typeof field !== 'string') return null
  if (op === '=' && (typeof rvalue === 'string' || typeof rvalue === 'number')) {
    return `${field}:${escaped(rvalue)}`
  }
  if (op === '$in' && isArray(values) && values.length > 1) return `${field}:${values.map(escaped).join()}`
  return null
}

function escaped(value: Json): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll(/[,;\\]/g, String.raw`\$&`)
}

function listText(value: Json, itemText: (item: JsonObject) => string | null): string | null {
  const texts = (isArray(value) ? value : [value]).map((item) => (isObject(item) ? itemText(item) : null))
  return texts.length > 0 && texts.every((text) => text !== null) ? texts.join() : null
}

function fieldText({ field, include = true, recursive = false, ...others }: JsonObject): string | null {
  if (typeof field !== 'string' || Object.keys(others).length > 0) return null
  return `${field}:${include === true ? 1 : 0}${recursive === true ? 'r' : ''}`
}

function sortText(key: JsonObject): string | null {
  const [[field, order] = ['', null], ...others] = Object.entries(key)
  return others.length > 0 || typeof order !== 'string' ? null : `${field}:${order === '$desc' ? 'd' : 'a'}`
}
