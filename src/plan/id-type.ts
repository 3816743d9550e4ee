/** The type of `_id`. Stores need it for every collection, because `_id` breaks ties in sorts. */
import type { SimpleField } from '../schema/field.ts'
import type { Schema } from '../schema/schema.ts'
import type { TypeName } from '../schema/types.ts'

export function idTypeOf(schema: Schema): TypeName {
  return (schema.root.fields.get('_id') as SimpleField).type.name
}
