/** Removes hidden fields from documents, by functions that are compiled once per schema and visibility. */
import type { Visibility } from '../../access/requests.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { memoized } from '../../base/memo.ts'
import { compileStrip } from '../../lang/evaluate/strip.ts'
import type { Field } from '../../schema/field.ts'
import type { Schema } from '../../schema/schema.ts'

export const stripOf = memoized((schema: Schema) =>
  memoized(
    ({ isHidden }: Visibility) =>
      compileStrip(schema.root.fields, isHidden) ?? ((value: JsonObject) => value),
  ),
)

/**
 * The same before references are embedded: a value that another version stored under the name of a reference
 * is not a joined document, so it is removed as well.
 */
export const stripForJoins = memoized((schema: Schema) =>
  memoized(({ isHidden }: Visibility) => {
    const isGone = (field: Field): boolean => field.kind === 'reference' || isHidden(field)
    return compileStrip(schema.root.fields, isGone) ?? ((value: JsonObject) => value)
  }),
)
