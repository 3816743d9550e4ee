/** From the path of a field to the fields on the way, and to the place of its definition. */
import { pointer } from '../base/json/json.ts'
import { isIndex } from '../base/path.ts'
import type { Field } from './field.ts'
import type { Schema } from './schema.ts'

/** The fields from the root down to the path; undefined where there is no such field. */
export function trailTo(schema: Schema, path: string): readonly Field[] | undefined {
  const trail: Field[] = []
  let here: Field | undefined = schema.root
  for (const step of path.split('.')) {
    here = inside(here, step)
    if (!here) return undefined
    trail.push(here)
  }
  return trail
}

/** Where the field with this path, which has no indexes, stands in the schema, as a JSON pointer. */
export function fieldPointer(path: string): string {
  return path
    .split('.')
    .reduce((at, step) => (step === '*' ? `${at}/items` : pointer(`${at}/fields`, step)), '')
}

function inside(field: Field, step: string): Field | undefined {
  if (field.kind === 'object') return field.fields.get(step)
  return field.kind === 'array' && (step === '*' || isIndex(step)) ? field.element : undefined
}
