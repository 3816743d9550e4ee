/** Sort keys as SQL. */
import { idTypeOf } from '../../plan/id-type.ts'
import type { DocumentsLink, FieldRef } from '../../lang/resolve/scope.ts'
import type { SortKey } from '../../lang/sort.ts'
import type { Base } from './dialect.ts'
import { type Fragment, join, literal, raw, sql } from './fragment.ts'
import { type JoinedRows, joinedRows } from './joined-rows.ts'
import { joiningOf } from './joining.ts'
import { type Translation, isDocument, isNull, loopsOf, some, typeOf } from './translation.ts'
import { filterTerms } from './where.ts'

export function orderBy({ field, descending }: SortKey<FieldRef>, translation: Translation): Fragment {
  return sql`${sortValue(field, descending, translation)} ${translation.dialect.direction(descending)}`
}

/** An array sorts by its smallest element ascending, and by its largest descending. Null sorts below all values. */
export function sortValue(field: FieldRef, descending: boolean, translation: Translation): Fragment {
  if (field.score) return sql`(${join(field.score.map(translation.scopes[0]!.score!), ' + ')})`
  if (field.joined)
    return translation.joinedValues?.get(field) ?? joinedValue({ field, descending }, translation)
  return ownValue(field, descending, translation)
}

function ownValue(field: FieldRef, descending: boolean, translation: Translation): Fragment {
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

/**
 * Columns with what the rows are sorted by through references, in the form of joined documents: the document at the end
 * of the way, or the number of documents. Cursors are made of them.
 */
export function sourceColumns(
  sort: readonly SortKey<FieldRef>[],
  translation: Translation,
): readonly Fragment[] {
  return sort
    .filter(({ field }) => field.joined)
    .map((key) => sql`${sourceOf(key, translation)} || ${literal('\n')}`)
}

/**
 * A correlated subselect: each row looks up the document that it joins, by `_id` or by a unique index. A million rows
 * are a million lookups, some seconds, before they are sorted; the time limit of the request ends longer ones.
 */
function joinedValue({ field, descending }: SortKey<FieldRef>, translation: Translation): Fragment {
  const { links, counted } = field.joined!
  const [link, ...rest] = links
  if (!link) return counted ? numberOf(counted, translation) : ownValue(field, descending, translation)
  return firstOf(link, translation, (rows) => {
    const key = { field: { ...field, joined: { ...field.joined!, links: rest } }, descending }
    const value = joinedValue(key, rows.inner)
    return sql`select ${value} from ${rows.from} where ${rows.where} order by 1 ${translation.dialect.direction(descending)} limit 1`
  })
}

function sourceOf({ field, descending }: SortKey<FieldRef>, translation: Translation): Fragment {
  const { links, counted } = field.joined!
  const [link, ...rest] = links
  if (!link) return counted ? numberOf(counted, translation) : raw(`${translation.qualifier}doc`)
  return firstOf(link, translation, (rows) => {
    const key = { field: { ...field, joined: { ...field.joined!, links: rest } }, descending }
    const order = sql`${joinedValue(key, rows.inner)} ${translation.dialect.direction(descending)}`
    return sql`select ${sourceOf(key, rows.inner)} from ${rows.from} where ${rows.where} order by ${order} limit 1`
  })
}

function numberOf(link: DocumentsLink, translation: Translation): Fragment {
  return firstOf(
    link,
    translation,
    ({ from, where }) => sql`select count(*) from ${from} where ${where}`,
    raw('0'),
  )
}

/** A subselect of the rows that the reference joins; null where no object has the reference. */
function firstOf(
  { steps, query, reference }: DocumentsLink,
  translation: Translation,
  select: (rows: JoinedRows) => Fragment,
  otherwise = raw('null'),
): Fragment {
  const { schema } = reference.field.join
  const other = translation.other(schema.collection, idTypeOf(schema))
  const value = other
    ? sql`(${select(joinedRows(joiningOf([query], other), { other, translation, filter: filterTerms }, ['doc']))})`
    : otherwise
  const [base] = translation.scopes
  if (steps.length === 0 && isDocument(base!)) return value
  return sql`case when ${translation.dialect.isKind(base!, steps, 'object')} then ${value} end`
}
