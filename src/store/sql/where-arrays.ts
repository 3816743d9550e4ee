/** Conditions on whole arrays: field against field, membership, contents. */
import type { ArrayField } from '../../schema/field.ts'
import { unreachable } from '../../base/errors.ts'
import { orderKey } from '../../base/decimal.ts'
import { type Json, isNumber, numberText } from '../../base/json/json.ts'
import type { Step } from '../../base/path.ts'
import { type AffirmativeOp, DENIED, HOLDS, isNegative } from '../../lang/operators.ts'
import type { Query } from '../../lang/query.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import { comparands } from './comparands.ts'
import type { Base } from './dialect.ts'
import { type Fragment, param, raw, sql } from './fragment.ts'
import { type Reading, commonReading } from './reading.ts'
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
interface Spot {
  readonly base: Base | undefined
  readonly steps: readonly Step[]
  /** Whether a value other than an array may be stored there. */
  readonly isMixed: boolean | undefined
}

export function compareFields(query: Query<FieldRef> & { kind: 'compareFields' }, to: Translation): Fragment {
  const { op } = query
  if (isNegative(op)) return not(compareFields({ ...query, op: DENIED[op] }, to))
  const type = commonReading(typeOf(query.field.field), typeOf(query.rfield.field))
  const holds = comparison(op, to)
  const [leftIsArray, rightIsArray] = [
    query.field.field.kind === 'array',
    query.rfield.field.kind === 'array',
  ]
  const inside = withoutColumns(to)
  return someSpot(query.field, inside, (left) =>
    someSpot(query.rfield, inside, (right) => {
      if (leftIsArray && rightIsArray) return pairwise(left, right, { holds, type, op, to })
      const value = (spot: Spot): Fragment => read(spot, type, to)
      if (leftIsArray) return everyElement(left, to, type, (each) => holds(each, value(right)))
      if (rightIsArray) return everyElement(right, to, type, (each) => holds(value(left), each))
      return holds(value(left), value(right))
    }),
  )
}

export function inField(query: Query<FieldRef> & { kind: 'inField' }, to: Translation): Fragment {
  const type = commonReading(typeOf(query.field.field), typeOf(query.rfield.field))
  const inside = withoutColumns(to)
  const found = someSpot(query.field, inside, (left) =>
    someSpot(query.rfield, inside, (right) => {
      const same = (each: Fragment): Fragment => to.dialect.isSame(each, read(left, type, to))
      return right.base ? anyElement(right, to, type, same) : raw('1=0')
    }),
  )
  return query.negated ? not(found) : found
}

export function contains(query: Query<FieldRef> & { kind: 'contains' }, to: Translation): Fragment {
  const { array, op, values } = query
  switch (op) {
    case '$any':
      return containsAny(array, values, to)
    case '$none':
      return not(containsAny(array, values, to))
    case '$all':
      return containsAll(array, values, to)
    default:
      return unreachable(op)
  }
}

function containsAny(array: FieldRef, values: readonly Json[], to: Translation): Fragment {
  const type = typeOf(array.field)
  const listed = isIn(values, to, type)
  // Null in the list matches a null element, never an absent array; so only a list without null is a plain
  // `$in`.
  if (!values.includes(null)) return some(elementsOf(array), listed, to)
  return someSpot(array, to, (spot) =>
    spot.base ? anyElement(spot, to, type, (each) => listed(each)!) : raw('1=0'),
  )
}

/** An index finds the documents with the first value; whether they contain all values is tested on those documents. */
function containsAll(array: FieldRef, values: readonly Json[], to: Translation): Fragment {
  const type = typeOf(array.field)
  const all = someSpot(array, to, (spot) => holdsAll(spot, values, type, to))
  const first = values.find((value) => value !== null)
  if (first === undefined || to.elementsOf(`${array.field.path}.*`) === undefined) return all
  return sql`(${some(elementsOf(array), isIn([first], to, type), to)} and ${all})`
}

function elementsOf(array: FieldRef): FieldRef {
  const { element } = array.field as ArrayField
  return { ...array, steps: [...array.steps, '*'], field: element }
}

/** Compares counts: the array contains as many distinct listed values as the list has. */
function holdsAll(spot: Spot, values: readonly Json[], type: Reading, to: Translation): Fragment {
  if (values.length === 0) return raw('1=1')
  if (!spot.base) return raw('1=0')
  const others = values.filter((value) => value !== null)
  const distinct = new Set(others.map((value) => (isNumber(value) ? orderKey(numberText(value)) : value)))
    .size
  const { from, element } = elementsAt(spot, spot.base, to)
  const each = element.scalar!(type)
  const compared = comparands(others)
  const listed = compared ? to.dialect.isIn(each, compared, type) : raw('1=0')
  const all = sql`(select count(distinct ${each}) from ${from} where ${listed}) = ${param(distinct)}`
  if (others.length === values.length) return all
  return sql`(${all} and ${anyElement(spot, to, type, (value) => sql`${value} is null`)})`
}

function someSpot({ up, steps, field }: FieldRef, to: Translation, test: (spot: Spot) => Fragment): Fragment {
  return someSpotFrom({ base: to.scopes[up]!, steps, isMixed: field.isMixed }, to, test)
}

function someSpotFrom(
  start: Spot & { readonly base: Base },
  to: Translation,
  test: (spot: Spot) => Fragment,
): Fragment {
  const { base, steps, isMixed } = start
  const star = steps.indexOf('*')
  if (star === -1) return test(start)
  const head = steps.slice(0, star)
  const { from, element, position } = elementsAt({ ...start, steps: head }, base, to)
  const inside = someSpotFrom({ base: element, steps: steps.slice(star + 1), isMixed }, to, test)
  const found = sql`exists (select 1 from ${from} where ${alive(to, position)}${inside})`
  const missing = test({ base: undefined, steps: [], isMixed })
  return sql`((${isAbsent(base, head, { to, isMixed })} and ${missing}) or ${found})`
}

function read({ base, steps }: Spot, type: Reading, to: Translation): Fragment {
  return base ? to.dialect.read(base, steps, type) : raw('null')
}

/** Null equals null and a missing value; no order comparison is true for either. */
function comparison(op: AffirmativeOp, to: Translation): (a: Fragment, b: Fragment) => Fragment {
  switch (op) {
    case '$eq':
      return to.dialect.isSame
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
  spot: Spot,
  to: Translation,
  type: Reading,
  test: (each: Fragment) => Fragment,
): Fragment {
  const { from, element, position } = elementsAt(spot, spot.base!, to)
  return sql`exists (select 1 from ${from} where ${alive(to, position)}${test(element.scalar!(type))})`
}

/** True for every element, and there is at least one. */
function everyElement(
  spot: Spot,
  to: Translation,
  type: Reading,
  test: (each: Fragment) => Fragment,
): Fragment {
  if (!spot.base) return raw('1=0')
  const none = not(anyElement(spot, to, type, (each) => not(test(each))))
  return sql`(${anyElement(spot, to, type, () => raw('1=1'))} and ${none})`
}

interface Pairing {
  readonly holds: (a: Fragment, b: Fragment) => Fragment
  readonly type: Reading
  readonly op: AffirmativeOp
  readonly to: Translation
}

/** Both have the same length, and the comparison is true at every position; an absent array counts as empty. */
function pairwise(left: Spot, right: Spot, { holds, type, op, to }: Pairing): Fragment {
  const bothEmpty = raw(HOLDS[op](0) ? '1=1' : '1=0')
  const sizes = sql`${size(left, to)} = ${size(right, to)}`
  if (!left.base || !right.base) return sql`(${sizes} and ${bothEmpty})`
  const a = elementsAt(left, left.base, to)
  const b = elementsAt(right, right.base, to)
  const fails = not(holds(a.element.scalar!(type), b.element.scalar!(type)))
  const noneFails = sql`not exists (select 1 from ${a.from}, ${b.from} where ${alive(to, b.position)}${a.position} = ${b.position} and ${fails})`
  return sql`(${sizes} and case when ${size(left, to)} = 0 then ${bothEmpty} else ${noneFails} end)`
}

function size(spot: Spot, to: Translation): Fragment {
  if (!spot.base) return raw('0')
  return sql`(select count(*) from ${elementsAt(spot, spot.base, to).from})`
}

function elementsAt({ steps, isMixed }: Spot, base: Base, to: Translation) {
  return to.dialect.each(base, steps, { alias: to.alias(), isMixed })
}
