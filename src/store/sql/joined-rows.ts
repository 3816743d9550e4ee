/** The rows of another table that are joined to a document, as part of a correlated subselect. */
import type { Query } from '../../lang/query.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import type { Form } from './dialect.ts'
import { type Fragment, join, joinBalanced, raw, sql } from './fragment.ts'
import { type Equality, type Joining, indexedFormsOf, isByIndex, valueOf } from './joining.ts'
import type { OtherRows, Translation } from './translation.ts'

export type Filter = (terms: readonly Query<FieldRef>[], translation: Translation) => readonly Fragment[]

/** The context of a join: the other table, the outer scopes, and the translation of filters. */
export interface JoinContext {
  readonly other: OtherRows
  /** Its scopes are the outer ones of a joined document. */
  readonly translation: Translation
  readonly filter: Filter
}

export interface JoinedRows {
  readonly from: Fragment
  readonly where: Fragment
  /** The row is its innermost scope. */
  readonly inner: Translation
}

/** `columns`: the columns that the subselect reads besides those of conditions. */
export function joinedRows(
  joining: Joining,
  context: JoinContext,
  columns: readonly string[] = [],
): JoinedRows {
  const rows = context.translation.putInFront
    ? rowsInFront(joining, context, [...new Set([...context.other.columns, ...columns])])
    : rowsInPlace(joining, context)
  const inner = innerOf(rows.alias, context)
  return { from: rows.from, where: allOf([...rows.terms, ...context.filter(joining.mixed, inner)]), inner }
}

/** The conditions on the rows alone, under an alias. */
export function localTerms(
  local: Joining['local'],
  alias: string,
  context: JoinContext,
): readonly Fragment[] {
  const { other, translation, filter } = context
  const own = other.translation(alias)
  return [
    ...(translation.isWatched ? [translation.dialect.alive(raw(`${alias}.no`))] : []),
    ...filter(local, own),
  ]
}

export function allOf(terms: readonly Fragment[]): Fragment {
  return terms.length === 0 ? raw('1=1') : joinBalanced(terms, ' and ')
}

interface Source {
  readonly alias: string
  readonly from: Fragment
  readonly terms: readonly Fragment[]
}

function rowsInPlace({ local, equality }: Joining, context: JoinContext): Source {
  const alias = context.translation.alias('r')
  const connection = equality ? [isSame(equality, innerOf(alias, context))] : []
  return {
    alias,
    from: raw(`${context.other.table} ${alias}`),
    terms: [...connection, ...localTerms(local, alias, context)],
  }
}

function isSame(equality: Equality, inner: Translation): Fragment {
  const { key, outer, isElement, type, mayBeNull } = equality
  if (!mayBeNull) return isEqual(equality, inner)
  if (isElement) return sql`(${isEqual(equality, inner)} or ${areNull(equality, inner)})`
  return inner.dialect.isSameKey(valueOf(key, equality, inner), valueOf(outer, equality, inner), type)
}

/**
 * A cluster can join rows of another table only from a common table expression. A single server inlines one
 * that is used once. Indexes do not treat null as equal to null: where that matters, rows with a key and rows
 * without one are looked up separately, unless that would repeat too many conditions.
 */
function rowsInFront({ local, equality }: Joining, context: JoinContext, columns: readonly string[]): Source {
  const name = putInFront(local, context, columns)
  if (!equality) return { alias: name, from: raw(name), terms: [] }
  const inner = innerOf(name, context)
  const areSeparate = equality.mayBeNull && isByIndex(equality, context.other)
  if (!areSeparate || context.translation.size?.mayRepeat(local) === false) {
    return { alias: name, from: raw(name), terms: [isSame(equality, inner)] }
  }
  const equal = isEqual(equality, inner)
  const without = putInFront(local, context, columns)
  const list = raw(columns.join(', '))
  const withKey = sql`select ${list} from ${raw(name)} where ${equal}`
  const withoutKey = sql`select ${list} from ${raw(without)} where ${areNull(equality, innerOf(without, context))}`
  const alias = context.translation.alias('r')
  return { alias, from: sql`(${withKey} union all ${withoutKey}) ${raw(alias)}`, terms: [] }
}

/** Puts the rows that satisfy the local conditions into a common table expression, and returns its name. */
function putInFront(local: Joining['local'], context: JoinContext, columns: readonly string[]): string {
  const { other, translation } = context
  const alias = translation.alias('r')
  const list = columns.map((column) => `${alias}.${column}`).join(', ')
  const rows = sql`select ${raw(list)} from ${raw(`${other.table} ${alias}`)}`
  const terms = localTerms(local, alias, context)
  translation.putInFront!(alias, terms.length === 0 ? rows : sql`${rows} where ${allOf(terms)}`)
  return alias
}

/** Key and value are equal and not null; indexes of the keys serve it. */
function isEqual(equality: Equality, inner: Translation): Fragment {
  const { key, outer, isElement } = equality
  const value = valueOf(key, equality, inner)
  const forms: readonly Form[] = [...indexedFormsOf(key, equality, inner), (plain) => plain]
  const terms = forms.map((form) => {
    if (!isElement) return sql`${form(value)} = ${form(valueOf(outer, equality, inner))}`
    const { from, each } = elementsOf(equality, inner)
    return inner.dialect.isAmong(form(value), sql`select ${form(each)} from ${from}`)
  })
  return join(terms, ' and ')
}

function areNull(equality: Equality, inner: Translation): Fragment {
  const hasNoKey = isNull(valueOf(equality.key, equality, inner))
  if (!equality.isElement) return sql`(${hasNoKey} and ${isNull(valueOf(equality.outer, equality, inner))})`
  const { from, each } = elementsOf(equality, inner)
  return sql`(${hasNoKey} and exists (select 1 from ${from} where ${each} is null))`
}

/** The column of the beginning of a text suffices, and has an index. */
function isNull(value: Fragment): Fragment {
  return sql`${value.beginning?.text ?? value} is null`
}

/** The elements of the outer array as rows. */
export function elementsOf({ outer, type }: Pick<Equality, 'outer' | 'type'>, translation: Translation) {
  const options = { alias: translation.alias(), isMixed: outer.field.isMixed }
  const { from, element, position } = translation.dialect.each(
    translation.scopes[outer.up]!,
    outer.steps,
    options,
  )
  return { from, each: element.scalar!(type), position }
}

/** The translation for rows with this alias, including the outer scopes. */
function innerOf(alias: string, { other, translation }: JoinContext): Translation {
  const own = other.translation(alias)
  return { ...own, scopes: [...own.scopes, ...translation.scopes] }
}
