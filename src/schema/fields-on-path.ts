/** Finds the fields on a path, and the JSON pointer to the definition of a field. */
import { pointer } from '../base/json/json.ts'
import { isIndex } from '../base/path.ts'
import type { Field } from './field.ts'
import type { Schema } from './schema.ts'

/** The fields on the path, outermost first, without the root; undefined when there is no such field. */
export function fieldsOnPath(schema: Schema, path: string): readonly Field[] | undefined {
  const fields: Field[] = []
  let current: Field | undefined = schema.root
  for (const step of path.split('.')) {
    current = childOf(current, step)
    if (!current) return undefined
    fields.push(current)
  }
  return fields
}

/** The JSON pointer to the definition of a field in its schema document; the path must have no indexes. */
export function fieldPointer(path: string): string {
  return path
    .split('.')
    .reduce((at, step) => (step === '*' ? `${at}/items` : pointer(`${at}/fields`, step)), '')
}

function childOf(field: Field, step: string): Field | undefined {
  if (field.kind === 'object') return field.fields.get(step)
  return field.kind === 'array' && (step === '*' || isIndex(step)) ? field.element : undefined
}
