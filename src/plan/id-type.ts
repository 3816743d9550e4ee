/** How `_id` of a schema orders, which stores need to know of every collection. */
import type { SimpleField } from '../schema/field.ts'
import type { Schema } from '../schema/schema.ts'
import type { TypeName } from '../schema/types.ts'

export function idTypeOf(schema: Schema): TypeName {
  return (schema.root.fields.get('_id') as SimpleField).type.name
}
