/** The columns of an export as CSV: one for each simple field of the schema. */
import { type Json, type JsonObject, isObject, member } from '../../base/json/json.ts'
import { isDerived } from '../../records/columns.ts'
import type { Client } from '../client/client.ts'
import { fieldsFrom } from '../client/request-parts.ts'
import { EXIT, Exit } from '../exit.ts'

export interface CsvColumn {
  readonly name: string
  readonly path: readonly string[]
  readonly isJson: boolean
  /** Whether it stands for an object itself, which has no cell: it must not be empty. */
  readonly objects: readonly (readonly string[])[]
}

interface Subject {
  readonly entity: string
  readonly version: string | undefined
  readonly fields: string | undefined
}

export async function csvColumns(
  client: Client,
  { entity, version, fields }: Subject,
): Promise<readonly CsvColumn[]> {
  const path = `/metadata/${encodeURIComponent(entity)}/${encodeURIComponent(version ?? 'default')}`
  const metadata = await client.ask('GET', path).catch((error: unknown) => {
    if (!(error instanceof Exit) || error.code !== EXIT.denied) throw error
    const reason = 'CSV needs the metadata of the entity for its columns, which you may not read'
    throw new Exit(EXIT.denied, `${reason}; use --format ndjson`)
  })
  const all = columnsIn(member(member(metadata, 'schema'), 'fields'), [], [])
  if (fields === undefined) return all
  const named = fieldsFrom(fields)
  return named.flatMap((field) => {
    const own = all.filter(({ path: steps }) => isWithin(steps.join('.'), field))
    if (own.length > 0) return own
    throw new Exit(EXIT.failed, `${entity} has no field ${field} that CSV can express`)
  })
}

function isWithin(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`)
}

/** References have no value of their own. */
function columnsIn(
  fields: Json | undefined,
  prefix: readonly string[],
  objects: readonly (readonly string[])[],
): readonly CsvColumn[] {
  if (!isObject(fields)) return []
  return Object.entries(fields).flatMap(([name, field]): readonly CsvColumn[] => {
    const path = [...prefix, name]
    const type = member(field, 'type')
    if (isDerived(name) || type === 'reference' || (prefix.length === 0 && name === 'objectType')) return []
    if (type === 'object') return columnsIn(member(field, 'fields'), path, [...objects, path])
    if (name.endsWith(':json'))
      throw new Exit(
        EXIT.failed,
        `the name of the field "${path.join('.')}" ends in :json, which CSV uses otherwise; use ndjson`,
      )
    const isJson = type === 'array' || type === 'any'
    return [{ name: `${path.join('.')}${isJson ? ':json' : ''}`, path, isJson, objects }]
  })
}

export function cellText(document: Json, { path, isJson, objects }: CsvColumn): Json | undefined {
  for (const outer of objects) {
    const object = valueAt(document, outer)
    if (isObject(object) && isEmpty(object))
      throw new Exit(
        EXIT.failed,
        `"${outer.join('.')}" is an empty object, which CSV cannot express; use ndjson`,
      )
  }
  const value = valueAt(document, path)
  return value !== undefined && isJson ? JSON.stringify(value) : value
}

function isEmpty(object: JsonObject): boolean {
  return !Object.keys(object).some((name) => !isDerived(name))
}

function valueAt(document: Json, path: readonly string[]): Json | undefined {
  let at: Json | undefined = document
  for (const step of path) at = member(at, step)
  return at
}
