/** Documents are kept by their `_id`, in a form that its type decides: versions cannot disagree about that. */
import { ServiceError } from '../../base/errors.ts'
import type { SchemaDocument } from '../documents/schema-document.ts'

/** The others are all versions, since documents of disabled ones are still there. */
export function checkId(schema: SchemaDocument, others: Iterable<SchemaDocument>): void {
  const type = idTypeIn(schema)
  for (const other of others) {
    const otherType = idTypeIn(other)
    if (formOf(otherType) === formOf(type)) continue
    const problem = `"_id" is of type ${type}, but documents of version ${other.version.value} have one of type ${otherType}`
    throw new ServiceError('metadata:FieldWrongType', problem, { context: 'fields/_id' })
  }
}

function idTypeIn({ fields }: SchemaDocument): string {
  const id = fields.get('_id')
  return id?.kind === 'simple' ? id.type : 'string'
}

/** The types of texts are kept alike. */
function formOf(type: string): string {
  return type === 'uid' || type === 'date' ? 'string' : type
}
