/** Conditions on documents of other tables. A reference is treated as an array whose elements are rows. */
import type { Step } from '../../base/path.ts'
import { isJoined } from '../../lang/resolve/joins.ts'
import type { CompareOp } from '../../lang/operators.ts'
import type { Count, Related } from '../../lang/query.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import { idTypeOf } from '../../plan/id-type.ts'
import type { ArrayField } from '../../schema/field.ts'
import type { Base, KeyedRows } from './dialect.ts'
import { literals, operandParam } from './comparands.ts'
import { type Fragment, raw, sql } from './fragment.ts'
import { type JoinContext, type Filter, allOf, elementsOf, joinedRows, localTerms } from './joined-rows.ts'
import {
  type Equality,
  type Joining,
  indexedFormsOf,
  isByIndex,
  isId,
  joiningOf,
  valueOf,
} from './joining.ts'
import {
  OPERATORS,
  type OtherRows,
  type Translation,
  alive,
  isDocument,
  not,
  some,
  typeOf,
} from './translation.ts'

export function related(query: Related<FieldRef>, translation: Translation, filter: Filter): Fragment {
  return relatedBy(query, translation, { filter, some: someJoined })
}

/** Negation of `related`. PostgreSQL's planner makes an anti-join of `not exists`, and of no other negation. */
export function unrelated(query: Related<FieldRef>, translation: Translation, filter: Filter): Fragment {
  const { up, steps } = query.reference
  const mayBeUnknown = steps.length > 1 || !isDocument(translation.scopes[up]!)
  if (!translation.putInFront || mayBeUnknown)
    return not(related(query, { ...translation, isOptional: true }, filter))
  return sql`not ${relatedBy(query, translation, { filter, some: existsJoined })}`
}

interface Means {
  readonly filter: Filter
  /** A condition that some joined row exists. */
  readonly some: (joining: Joining, context: JoinContext) => Fragment
}

function relatedBy(query: Related<FieldRef>, translation: Translation, { filter, some }: Means): Fragment {
  const { reference, join, count } = query
  const other = otherOf(reference, translation)
  const joining = other && joiningOf([join, query.query], other)
  const write = (context: Translation): Fragment => {
    const place = other && { other, translation: context, filter }
    if (count) return sql`(${compareCount(count, joining && place && numberOf(joining, place), translation)})`
    return joining && place ? some(joining, place) : raw('(1=0)')
  }
  const test = (context: Translation): Fragment =>
    translation.size ? translation.size.reference(() => write(context)) : write(context)
  const { isMixed } = reference.field
  return someHolder(translation.scopes[reference.up]!, reference.steps.slice(0, -1), {
    translation,
    test,
    isMixed,
  })
}

function otherOf({ field }: FieldRef, translation: Translation): OtherRows | undefined {
  if (!isJoined(field)) throw new Error(`${field.path} is not a reference`)
  const { schema } = field.join
  return translation.other(schema.collection, idTypeOf(schema))
}

interface Holding {
  readonly translation: Translation
  readonly test: (context: Translation) => Fragment
  readonly isMixed: boolean | undefined
}

/** Tests some object that contains the reference at the end of the steps. Without such an object nothing is joined. */
function someHolder(base: Base, steps: readonly Step[], { translation, test, isMixed }: Holding): Fragment {
  const star = steps.indexOf('*')
  if (star === -1) {
    if (steps.length === 0 && isDocument(base)) return test(translation)
    return sql`(${translation.dialect.isKind(base, steps, 'object')} and ${test(translation)})`
  }
  const options = { alias: translation.alias(), isMixed }
  const { from, element, position } = translation.dialect.each(base, steps.slice(0, star), options)
  const inner = { ...translation, scopes: [element, ...translation.scopes] }
  const holds = someHolder(element, steps.slice(star + 1), { translation: inner, test, isMixed })
  return sql`exists (select 1 from ${from} where ${alive(translation, position)}${holds})`
}

/** Looks rows up by key, or in the other direction: collects the keys of matching rows and finds documents by them. */
function someJoined(joining: Joining, context: JoinContext): Fragment {
  const { equality, local, mixed } = joining
  if (equality && mixed.length === 0 && isFoundByKeys(equality, local, context)) {
    return isFoundSeparately(equality, local, context) ?? isKey(equality, local, context)
  }
  return existsJoined(joining, context)
}

function existsJoined(joining: Joining, context: JoinContext): Fragment {
  const { from, where } = joinedRows(joining, context)
  return sql`exists (select 1 from ${from} where ${where})`
}

function isFoundByKeys(
  equality: Equality,
  local: Joining['local'],
  { other, translation }: JoinContext,
): boolean {
  const choosesItself = translation.putInFront !== undefined && !translation.isOptional && !equality.mayBeNull
  return choosesItself || !isByIndex(equality, other) || local.some(other.isServed)
}

/**
 * For few keys, and an index that finds documents by them, where null equals null, which no join expresses:
 * documents with a key and documents without one are looked up separately, and the row must be among the
 * results.
 */
function isFoundSeparately(
  equality: Equality,
  local: Joining['local'],
  context: JoinContext,
): Fragment | undefined {
  const { translation, other } = context
  const { again, isOptional, scopes } = translation
  const outer = { ...equality.outer, up: 0 }
  const isOfRow = equality.outer.up === 1 && scopes.length === 1 && !equality.isElement
  if (!again || isOptional || !isOfRow || !equality.mayBeNull || !local.some(other.isServed)) return undefined
  if (!again.isIndexed(outer, equality.type) || translation.size?.mayRepeat(local) === false) return undefined
  const found = (test: (own: Translation) => Fragment): Fragment => {
    const alias = translation.alias('r')
    return sql`select ${raw(`${alias}.id from ${again.table} ${alias}`)} where ${test(again.translation(alias))}`
  }
  const inner = { ...equality, outer: { ...outer, up: 1 }, mayBeNull: false }
  const withKey = found((own) => isKey(inner, local, { ...context, translation: own }))
  const nulls = selectKeys({ equality, local, context }, (key) => ({
    columns: raw('1'),
    where: sql`${key} is null`,
  }))
  const withoutKey = found((own) => sql`${valueOf(outer, equality, own)} is null and exists (${nulls})`)
  return sql`${raw(`${translation.qualifier}id`)} in (${withKey} union all ${withoutKey})`
}

/** The outer value, or an element of the outer array, is the key of some row. */
function isKey(equality: Equality, local: Joining['local'], context: JoinContext): Fragment {
  const { key, isElement, type, mayBeNull } = equality
  const { other, translation } = context
  // Relative to the outer scopes.
  const outer = { ...equality.outer, up: equality.outer.up - 1 }
  // Where few keys lead to documents by their `_id`, the other direction is never shorter.
  const isOneWay = translation.isAlone && isId(outer) && local.some(other.isServed)
  const indexedForms = new Set([
    ...(isElement ? [] : indexedFormsOf(outer, equality, translation)),
    ...(isOneWay ? [] : indexedFormsOf(key, equality, other.translation('r'))),
  ])
  const select: KeyedRows['select'] = (make) => selectKeys({ equality, local, context }, make)
  const test = (value: Fragment): Fragment =>
    translation.dialect.isKeyOf(value, { type, mayBeNull, indexedForms: [...indexedForms], select })
  if (!isElement) return test(valueOf(outer, equality, translation))
  // An index into the array has no nulls, and only values in the form of their own type.
  if (!mayBeNull && typeOf(outer.field) === type) {
    const { element } = outer.field as ArrayField
    const elements = { ...outer, steps: [...outer.steps, '*'], field: element }
    return some(elements, (value) => value && test(value), translation)
  }
  const { from, each, position } = elementsOf({ outer, type }, translation)
  return sql`exists (select 1 from ${from} where ${alive(translation, position)}${test(each)})`
}

interface Keys {
  readonly equality: Equality
  readonly local: Joining['local']
  readonly context: JoinContext
}

function selectKeys({ equality, local, context }: Keys, make: Parameters<KeyedRows['select']>[0]): Fragment {
  const { other, translation } = context
  const alias = translation.alias('r')
  const { columns, where } = make(valueOf(equality.key, equality, other.translation(alias)))
  const terms = [...localTerms(local, alias, context), ...(where ? [where] : [])]
  const rows = sql`select ${columns} from ${raw(`${other.table} ${alias}`)}`
  return terms.length === 0 ? rows : sql`${rows} where ${allOf(terms)}`
}

function numberOf(joining: Joining, context: JoinContext): Fragment {
  const { from, where } = joinedRows(joining, context)
  return sql`select count(*) from ${from} where ${where}`
}

/** The subselect is written once, so that documents are counted once, however many numbers it is compared with. */
function compareCount(count: Count, select: Fragment | undefined, { dialect }: Translation): Fragment {
  const number = sql`(${select ?? raw('select count(*) where 1=0')})`
  if (count.op === '$in') return dialect.isIn(number, literals(count.values), 'integer')
  const wanted = operandParam(count.value, (each) => dialect.value(each, 'integer'))
  return sql`${number} ${raw(COUNT_OPERATORS[count.op])} ${wanted}`
}

/** A count is never null, so no operator needs a null check. */
const COUNT_OPERATORS: Readonly<Record<CompareOp, string>> = { ...OPERATORS, $neq: '<>' }
