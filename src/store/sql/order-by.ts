/** Sort keys as SQL. */
import type { FieldRef } from '../../lang/resolve/scope.ts'
import type { SortKey } from '../../lang/sort.ts'
import type { Base } from './dialect.ts'
import { type Fragment, join, sql } from './fragment.ts'
import { type Translation, isNull, loopsOf, some, typeOf } from './translation.ts'

export function orderBy({ field, descending }: SortKey<FieldRef>, translation: Translation): Fragment {
  return sql`${sortValue(field, descending, translation)} ${translation.dialect.direction(descending)}`
}

/** An array sorts by its smallest element ascending, and by its largest descending. Null sorts below all values. */
export function sortValue(field: FieldRef, descending: boolean, translation: Translation): Fragment {
  if (field.score) return sql`(${join(field.score.map(translation.scopes[0]!.score!), ' + ')})`
  if (!field.steps.includes('*'))
    return translation.dialect.read(translation.scopes[0]!, field.steps, typeOf(field.field))
  const { from, value } = candidates(translation.scopes[0]!, field, translation)
  if (descending) return sql`(select max(${value}) from ${from})`
  return sql`case when ${some(field, isNull, translation)} then null else (select min(${value}) from ${from}) end`
}

function candidates(
  root: Base,
  { steps, field }: FieldRef,
  translation: Translation,
): { from: Fragment; value: Fragment } {
  const { loops, base, rest } = loopsOf(root, { steps, isMixed: field.isMixed }, translation)
  return { from: join(loops, ', '), value: translation.dialect.read(base, rest, typeOf(field)) }
}
