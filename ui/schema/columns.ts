/** The columns of a table, from the schema: one for each simple field, array and reference, in the order of the schema. */
import type { Json } from '../client/json.ts'
import { isObject } from '../client/json.ts'
import type { Field, Fields } from '../client/types.ts'
import { memberOf } from './members.ts'

export interface Column {
  /** Dotted, without array elements. */
  readonly path: string
  readonly field: Field
  readonly width: number
}

export function columnsOf(fields: Fields): readonly Column[] {
  const columns = collect(fields, '')
  const id = columns.filter(({ path }) => path === '_id')
  return [...id, ...columns.filter(({ path }) => path !== '_id')]
}

/** Shown unless the user chooses others. */
export function usualColumns(columns: readonly Column[]): readonly Column[] {
  return columns.slice(0, MAX_USUAL)
}

/** Whether documents can be sorted by it: simple and comparable values only. */
export function isSortable({ field: { type } }: Column): boolean {
  return !UNSORTABLE.includes(type)
}

export function valueAt(document: Json | undefined, path: string): Json | undefined {
  let value = document
  for (const name of path.split('.')) {
    if (!isObject(value)) return undefined
    value = memberOf(value, name)
  }
  return value
}

/** Fields that every schema has and nobody fills in: the type of the document, and the sizes of arrays. */
export function isPredefined(path: string): boolean {
  return path === 'objectType' || path.endsWith('#')
}

const MAX_USUAL = 12
const UNSORTABLE = ['array', 'object', 'reference', 'any', 'binary']

const WIDTHS: Readonly<Partial<Record<string, number>>> = {
  boolean: 90,
  integer: 110,
  double: 120,
  biginteger: 150,
  bigdecimal: 130,
  date: 170,
  array: 200,
  reference: 190,
  uid: 190,
}

function collect(fields: Fields, prefix: string): readonly Column[] {
  return Object.entries(fields).flatMap(([name, field]): readonly Column[] => {
    const path = `${prefix}${name}`
    if (isPredefined(path)) return []
    if (field.type === 'object' && field.fields) return collect(field.fields, `${path}.`)
    return [{ path, field, width: Math.max(WIDTHS[field.type] ?? 150, path.length * 8 + 44) }]
  })
}
