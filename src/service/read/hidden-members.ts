/** How documents of a schema are stripped of what a caller may not see: worked out once for both. */
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
 * The same where references are to be filled in: what another version stored under the name of a reference is no
 * document that it joins, and must not be taken for one.
 */
export const stripForJoins = memoized((schema: Schema) =>
  memoized(({ isHidden }: Visibility) => {
    const isGone = (field: Field): boolean => field.kind === 'reference' || isHidden(field)
    return compileStrip(schema.root.fields, isGone) ?? ((value: JsonObject) => value)
  }),
)
