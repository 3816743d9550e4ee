/** Conditions on whole arrays: field against field, membership, contents. */
import type { ArrayField } from '../../schema/field.ts'
import { unreachable } from '../../base/errors.ts'
import { orderKey } from '../../base/decimal.ts'
import { type Json, isNumber, numberText } from '../../base/json/json.ts'
import type { Step } from '../../base/path.ts'
import { type PositiveOp, NEGATED_OP, HOLDS, isNegative } from '../../lang/operators.ts'
import type { Query } from '../../lang/query.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import { comparands } from './comparands.ts'
import type { Base } from './dialect.ts'
import { type Fragment, param, raw, sql } from './fragment.ts'
import { type ReadAs, commonReadAs } from './read-as.ts'
import {
  OPERATORS,
  type Translation,
  alive,
  isAbsent,
  isIn,
  not,
  some,
  typeOf,
  withoutColumns,
} from './translation.ts'

/** A value on a path: its base, and the remaining steps to it. An absent base stands for a missing value. */
interface Location {
  readonly base: Base | undefined
  readonly steps: readonly Step[]
  /** Whether a value other than an array may be stored there. */
  readonly isMixed: boolean | undefined
}

export function compareFields(
  query: Query<FieldRef> & { kind: 'compareFields' },
  translation: Translation,
): Fragment {
  const { op } = query
  if (isNegative(op)) return not(compareFields({ ...query, op: NEGATED_OP[op] }, translation))
  const type = commonReadAs(typeOf(query.field.field), typeOf(query.rfield.field))
  const holds = comparison(op, translation)
  const { paired } = translation
  if (paired) return holds(paired(query.field, query.rfield), paired(query.rfield, query.field))
  const [leftIsArray, rightIsArray] = [
    query.field.field.kind === 'array',
    query.rfield.field.kind === 'array',
  ]
  const inside = withoutColumns(translation)
  return someLocation(query.field, inside, (left) =>
    someLocation(query.rfield, inside, (right) => {
      if (leftIsArray && rightIsArray) return pairwise(left, right, { holds, type, op, translation })
      const value = (location: Location): Fragment => read(location, type, translation)
      if (leftIsArray) return everyElement(left, translation, type, (each) => holds(each, value(right)))
      if (rightIsArray) return everyElement(right, translation, type, (each) => holds(value(left), each))
      return holds(value(left), value(right))
    }),
  )
}

export function inField(query: Query<FieldRef> & { kind: 'inField' }, translation: Translation): Fragment {
  const type = commonReadAs(typeOf(query.field.field), typeOf(query.rfield.field))
  const inside = withoutColumns(translation)
  const found = someLocation(query.field, inside, (left) =>
    someLocation(query.rfield, inside, (right) => {
      const same = (each: Fragment): Fragment =>
        translation.dialect.isSame(each, read(left, type, translation))
      return right.base ? anyElement(right, translation, type, same) : raw('1=0')
    }),
  )
  return query.negated ? not(found) : found
}

export function contains(query: Query<FieldRef> & { kind: 'contains' }, translation: Translation): Fragment {
  const { array, op, values } = query
  switch (op) {
    case '$any':
      return containsAny(array, values, translation)
    case '$none':
      return not(containsAny(array, values, translation))
    case '$all':
      return containsAll(array, values, translation)
    default:
      return unreachable(op)
  }
}

function containsAny(array: FieldRef, values: readonly Json[], translation: Translation): Fragment {
  const type = typeOf(array.field)
  const listed = isIn(values, translation, type)
  // Null in the list matches a null element, never an absent array; so only a list without null is a plain
  // `$in`.
  if (!values.includes(null)) return some(elementsOf(array), listed, translation)
  return someLocation(array, translation, (location) =>
    location.base ? anyElement(location, translation, type, (each) => listed(each)!) : raw('1=0'),
  )
}

/** An index finds the documents with the first value; whether they contain all values is tested on those documents. */
function containsAll(array: FieldRef, values: readonly Json[], translation: Translation): Fragment {
  const type = typeOf(array.field)
  const all = someLocation(array, translation, (location) => holdsAll(location, values, type, translation))
  const first = values.find((value) => value !== null)
  const elements = elementsOf(array)
  if (first === undefined || translation.elementsOf(elements.field) === undefined) return all
  return sql`(${some(elements, isIn([first], translation, type), translation)} and ${all})`
}

function elementsOf(array: FieldRef): FieldRef {
  const { element } = array.field as ArrayField
  return { ...array, steps: [...array.steps, '*'], field: element }
}

/** Compares counts: the array contains as many distinct listed values as the list has. */
function holdsAll(
  location: Location,
  values: readonly Json[],
  type: ReadAs,
  translation: Translation,
): Fragment {
  if (values.length === 0) return raw('1=1')
  if (!location.base) return raw('1=0')
  const others = values.filter((value) => value !== null)
  const distinct = new Set(others.map((value) => (isNumber(value) ? orderKey(numberText(value)) : value)))
    .size
  const { from, element, position } = elementsAt(location, location.base, translation)
  const each = element.scalar!(type)
  const compared = comparands(others)
  const listed = compared ? translation.dialect.isIn(each, compared, type) : raw('1=0')
  const inside = sql`${alive(translation, position)}${listed}`
  const all = sql`(select count(distinct ${each}) from ${from} where ${inside}) = ${param(distinct)}`
  if (others.length === values.length) return all
  return sql`(${all} and ${anyElement(location, translation, type, (value) => sql`${value} is null`)})`
}

function someLocation(
  { up, steps, field }: FieldRef,
  translation: Translation,
  test: (location: Location) => Fragment,
): Fragment {
  return someLocationFrom({ base: translation.scopes[up]!, steps, isMixed: field.isMixed }, translation, test)
}

function someLocationFrom(
  start: Location & { readonly base: Base },
  translation: Translation,
  test: (location: Location) => Fragment,
): Fragment {
  const { base, steps, isMixed } = start
  const star = steps.indexOf('*')
  if (star === -1) return test(start)
  const head = steps.slice(0, star)
  const { from, element, position } = elementsAt({ ...start, steps: head }, base, translation)
  const inside = someLocationFrom({ base: element, steps: steps.slice(star + 1), isMixed }, translation, test)
  const found = sql`exists (select 1 from ${from} where ${alive(translation, position)}${inside})`
  const missing = test({ base: undefined, steps: [], isMixed })
  return sql`((${isAbsent(base, head, { translation, isMixed })} and ${missing}) or ${found})`
}

function read({ base, steps }: Location, type: ReadAs, translation: Translation): Fragment {
  return base ? translation.dialect.read(base, steps, type) : raw('null')
}

/** Null equals null and a missing value; no order comparison is true for either. */
function comparison(op: PositiveOp, translation: Translation): (a: Fragment, b: Fragment) => Fragment {
  switch (op) {
    case '$eq':
      return translation.dialect.isSame
    case '$lt':
    case '$gt':
    case '$lte':
    case '$gte':
      return (a, b) => sql`${a} ${raw(OPERATORS[op])} ${b}`
    default:
      return unreachable(op)
  }
}

function anyElement(
  location: Location,
  translation: Translation,
  type: ReadAs,
  test: (each: Fragment) => Fragment,
): Fragment {
  const { from, element, position } = elementsAt(location, location.base!, translation)
  return sql`exists (select 1 from ${from} where ${alive(translation, position)}${test(element.scalar!(type))})`
}

/** True for every element, and there is at least one. */
function everyElement(
  location: Location,
  translation: Translation,
  type: ReadAs,
  test: (each: Fragment) => Fragment,
): Fragment {
  if (!location.base) return raw('1=0')
  const none = not(anyElement(location, translation, type, (each) => not(test(each))))
  return sql`(${anyElement(location, translation, type, () => raw('1=1'))} and ${none})`
}

interface PairwiseContext {
  readonly holds: (a: Fragment, b: Fragment) => Fragment
  readonly type: ReadAs
  readonly op: PositiveOp
  readonly translation: Translation
}

/** Both have the same length, and the comparison is true at every position; an absent array counts as empty. */
function pairwise(
  left: Location,
  right: Location,
  { holds, type, op, translation }: PairwiseContext,
): Fragment {
  const bothEmpty = raw(HOLDS[op](0) ? '1=1' : '1=0')
  const sizes = sql`${size(left, translation)} = ${size(right, translation)}`
  if (!left.base || !right.base) return sql`(${sizes} and ${bothEmpty})`
  const a = elementsAt(left, left.base, translation)
  const b = elementsAt(right, right.base, translation)
  const fails = not(holds(a.element.scalar!(type), b.element.scalar!(type)))
  const noneFails = sql`not exists (select 1 from ${a.from}, ${b.from} where ${alive(translation, b.position)}${a.position} = ${b.position} and ${fails})`
  return sql`(${sizes} and case when ${size(left, translation)} = 0 then ${bothEmpty} else ${noneFails} end)`
}

function size(location: Location, translation: Translation): Fragment {
  if (!location.base) return raw('0')
  const { from, position } = elementsAt(location, location.base, translation)
  return sql`(select count(*) from ${from} where ${alive(translation, position)}1=1)`
}

function elementsAt({ steps, isMixed }: Location, base: Base, translation: Translation) {
  return translation.dialect.each(base, steps, { alias: translation.alias(), isMixed })
}
