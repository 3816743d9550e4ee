/** Checks the default values of a version: each must be one that a document could have. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, isArray } from '../../base/json/json.ts'
import { type Schema, allFields } from '../../schema/schema.ts'
import { LOOKS_LIKE } from '../../schema/types.ts'
import { type ArrayField, type Field, type SimpleField, isComputed } from '../../schema/field.ts'
import { type FieldDocument, everyField } from '../documents/field-document.ts'
import type { SchemaDocument } from '../documents/schema-document.ts'
import { defaultProblem } from './possible-values.ts'

export function checkDefaults({ fields }: SchemaDocument, { root }: Schema): void {
  const compiled = new Map([...allFields(root.fields)].map((field) => [field.path, field]))
  for (const { path, field } of everyField(fields)) {
    if (!hasDefault(field)) continue
    const problem = problemWith(field, compiled.get(path)!)
    if (problem === undefined) continue
    throw new ServiceError('metadata:InvalidDefault', `"${path}": ${problem}`, { context: `fields/${path}` })
  }
}

function hasDefault(field: FieldDocument): boolean {
  return (field.kind === 'simple' || field.kind === 'array') && (field.default ?? null) !== null
}

function problemWith(document: FieldDocument, field: Field): string | undefined {
  if (isComputed(field)) return 'a field that the service fills has no default'
  if (document.kind === 'simple' && document.generator)
    return 'a field has a generator or a default, not both'
  const { identity, elementIdentity } = field.constraints
  if (identity || elementIdentity) return 'an identity has no default, because documents would share it'
  if (field.kind !== 'simple' && field.kind !== 'array') return undefined
  if (field.default === undefined) return `its default must be ${expectedOf(field)}`
  if (isEmptyUid(field)) return `its default must be ${LOOKS_LIKE.uid}; an empty text counts as null in a uid`
  return defaultProblem(field)
}

/** In a document that is sent, a UUID replaces an empty uid; a default is stored as it is. */
function isEmptyUid(field: SimpleField | ArrayField): boolean {
  const value = field.kind === 'array' ? field.element : field
  if (value.kind !== 'simple' || value.type.name !== 'uid') return false
  return field.default === '' || (isArray(field.default ?? null) && (field.default as Json[]).includes(''))
}

function expectedOf(field: Field): string {
  if (field.kind === 'simple') return LOOKS_LIKE[field.type.name]
  return field.kind === 'array' && field.element.kind === 'simple'
    ? `an array of values, each ${LOOKS_LIKE[field.element.type.name]}`
    : 'an empty array, because its elements are objects'
}
