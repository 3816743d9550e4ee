/** Whether stored text can be an answer as it is. */
import { memoized } from '../base/memo.ts'
import { isVirtual } from '../schema/field.ts'
import { type Schema, allFields } from '../schema/schema.ts'

/** Stored text holds members of this version only, and lacks none that are filled when read. */
export const mayPassThrough = memoized((schema: Schema) => {
  return schema.coversCollection && !allFields(schema.root.fields).some(isVirtual)
})
