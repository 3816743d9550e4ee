/** Sort keys as SQL. */
import type { Step } from '../../base/path.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import type { SortKey } from '../../lang/sort.ts'
import type { Base } from './dialect.ts'
import { type Fragment, join, sql } from './fragment.ts'
import { type Translation, isNull, some, typeOf } from './translation.ts'

export function orderBy({ field, descending }: SortKey<FieldRef>, to: Translation): Fragment {
  return sql`${sortValue(field, descending, to)} ${to.dialect.direction(descending)}`
}

/** An array sorts by its smallest element ascending, and by its largest descending. Null sorts below all values. */
export function sortValue(field: FieldRef, descending: boolean, to: Translation): Fragment {
  if (!field.steps.includes('*')) return to.dialect.read(to.scopes[0]!, field.steps, typeOf(field.field))
  const { from, value } = candidates(to.scopes[0]!, field, to)
  if (descending) return sql`(select max(${value}) from ${from})`
  return sql`case when ${some(field, isNull, to)} then null else (select min(${value}) from ${from}) end`
}

function candidates(
  root: Base,
  { steps, field }: FieldRef,
  to: Translation,
): { from: Fragment; value: Fragment } {
  const tables: Fragment[] = []
  let base = root
  let rest: readonly Step[] = steps
  for (let star = rest.indexOf('*'); star !== -1; star = rest.indexOf('*')) {
    const options = { alias: to.alias(), isMixed: field.isMixed }
    const { from, element } = to.dialect.each(base, rest.slice(0, star), options)
    tables.push(from)
    base = element
    rest = rest.slice(star + 1)
  }
  return { from: join(tables, ', '), value: to.dialect.read(base, rest, typeOf(field)) }
}
