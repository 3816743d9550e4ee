/**
 * Checks the type of `_id`: it decides the stored form of the key, so all versions must agree on that form.
 */
import { ServiceError } from '../../base/errors.ts'
import type { SchemaDocument } from '../documents/schema-document.ts'

/** `others` contains all versions, because documents of disabled versions still exist. */
export function checkId(schema: SchemaDocument, others: Iterable<SchemaDocument>): void {
  const type = idTypeIn(schema)
  for (const other of others) {
    const otherType = idTypeIn(other)
    if (formOf(otherType) === formOf(type)) continue
    const problem = `"_id" is of type ${type}, but documents of version ${other.version.value} have one of type ${otherType}`
    throw new ServiceError('metadata:FieldWrongType', problem, { context: 'fields/_id' })
  }
}

export function idTypeIn({ fields }: SchemaDocument): string {
  const id = fields.get('_id')
  return id?.kind === 'simple' ? id.type : 'string'
}

/** All text types have the same stored form. */
function formOf(type: string): string {
  return type === 'uid' || type === 'date' ? 'string' : type
}
