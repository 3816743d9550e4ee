/** Decides whether the stored text of a document can be sent as the response, without parsing it. */
import { memoized } from '../base/memo.ts'
import { isVirtual } from '../schema/field.ts'
import { isShownInOtherOrder } from '../schema/member-order.ts'
import { type Schema, allFields } from '../schema/schema.ts'

/**
 * Stored text contains members of this version only, in its order, and the version has no field that is computed on
 * read.
 */
export const mayPassThrough = memoized((schema: Schema) => {
  const { root, coversCollection } = schema
  return coversCollection && !isShownInOtherOrder(root) && !allFields(root.fields).some(isVirtual)
})
