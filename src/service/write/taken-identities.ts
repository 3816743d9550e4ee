/**
 * Numbers that a sequence must not give to the elements of a document, because others of its elements have them. They may
 * have been sent, or stored before the field had its generator. The caller may not even be allowed to read them, so that
 * nothing is refused for them; the sequence has a gap instead, as it may have for other reasons.
 */
import type { Json } from '../../base/json/json.ts'
import { memoized } from '../../base/memo.ts'
import { candidates } from '../../lang/evaluate/candidates.ts'
import { resolveField, rootScope } from '../../lang/resolve/scope.ts'
import { identityKey } from '../../schema/constraints.ts'
import type { SimpleField } from '../../schema/field.ts'
import { type Schema, allFields } from '../../schema/schema.ts'

/** Whether an element has this value of the field as its identity already. */
export type IsTaken = (field: SimpleField, value: Json) => boolean

/** Looks at the documents when the first number is generated, and only for identities that a sequence generates. */
export function takenIdentities(schema: Schema, documents: readonly Json[]): IsTaken {
  if (numberedIdentities(schema).length === 0) return () => false
  const keysOf = memoized((field: SimpleField): ReadonlySet<string> => {
    const ref = resolveField({ path: field.path, at: '' }, rootScope(schema))
    const values = documents.flatMap((value) => candidates({ value }, ref))
    return new Set(values.flatMap((value) => keyOf(value, field) ?? []))
  })
  return (field, value) => field.constraints.elementIdentity === true && keysOf(field).has(identityKey(value))
}

/** The identities of elements that sequences generate. */
export const numberedIdentities = memoized((schema: Schema): readonly SimpleField[] =>
  [...allFields(schema.root.fields)].filter(
    (field): field is SimpleField =>
      field.kind === 'simple' &&
      field.constraints.elementIdentity === true &&
      field.generator?.sequence !== undefined,
  ),
)

/** Values of documents that were sent are not cast yet. */
function keyOf(value: Json | undefined, { type }: SimpleField): string | undefined {
  const stored = value === undefined || value === null ? undefined : type.cast(value)
  return stored === undefined ? undefined : identityKey(stored)
}
