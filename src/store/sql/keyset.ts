/**
 * Keyset pagination: the rows that come after another row in an order. Where an index provides the order, they are
 * divided into ranges that follow each other, because no engine finds the beginning of a page by an `or`.
 */
import type { Json } from '../../base/json/json.ts'
import { isLiteral } from '../../lang/parameters.ts'
import { type Operand, valueParameter } from '../../lang/operand.ts'
import { type Query, conjunctsOf, nodesOf } from '../../lang/query.ts'
import { type FieldRef, sortsByOthers } from '../../lang/resolve/scope.ts'
import type { SortKey } from '../../lang/sort.ts'
import type { ReadPlan } from '../../plan/plan.ts'
import type { IndexDefinition, IndexField } from '../../schema/schema.ts'
import { type TypeName, TYPES } from '../../schema/types.ts'
import { operandParam } from './comparands.ts'
import { type Fragment, type SqlValue, argument, join, param, raw, sql } from './fragment.ts'
import { sortValue } from './order-by.ts'
import { readAsOf } from './read-as.ts'
import { type Translation, typeOf } from './translation.ts'
import { filterTerms } from './where.ts'

interface OrderedValue {
  readonly value: Fragment
  readonly descending: boolean
}

/** A sort key, and its value in the row after which the page begins. */
interface AfterKey extends OrderedValue {
  /** Absent: null. */
  readonly last?: Fragment
  readonly isNeverNull?: true
  /** Conditions in the form that an index serves; absent where none could. */
  readonly indexed?: {
    /** A comparison with the last value. */
    readonly compared: (op: '$eq' | '$lt' | '$gt') => Fragment
    readonly isNull: () => Fragment
    readonly isThere: () => Fragment
  }
}

/** Null sorts first; the last key is unique and decides alone. */
export function afterRow([first, ...others]: readonly AfterKey[]): Fragment {
  const after = join(following(first!), ' or ')
  if (others.length === 0) return sql`(${after})`
  return sql`(${after} or (${isEqual(first!)} and ${afterRow(others)}))`
}

/** The values that come after that of the key, in their order. */
function following(key: AfterKey): readonly Fragment[] {
  const { value, descending, last, indexed } = key
  if (!last) return [descending ? raw('1=0') : (indexed?.isThere() ?? sql`${value} is not null`)]
  if (!descending) return [indexed?.compared('$gt') ?? sql`${value} > ${last}`]
  const below = indexed?.compared('$lt') ?? sql`${value} < ${last}`
  return key.isNeverNull ? [below] : [below, isNull(key)]
}

function isEqual(key: AfterKey): Fragment {
  const { value, last, indexed } = key
  if (!last) return isNull(key)
  return indexed?.compared('$eq') ?? sql`${value} = ${last}`
}

function isNull({ value, indexed }: AfterKey): Fragment {
  return indexed?.isNull() ?? sql`${value} is null`
}

/** Rows of a page that follow each other in one index. */
export interface KeysetRange {
  readonly condition: Fragment
  /** How many of the first sort keys have one value in all rows, so that they need not be sorted by. */
  readonly fixed: number
}

/** The ranges after the row, in their order. `most` is the number of sort keys whose order an index provides. */
export function rangesAfter(keys: readonly AfterKey[], most: number): readonly KeysetRange[] {
  const served = Math.min(most, keys.length - 1)
  const equal = keys.slice(0, served).map(isEqual)
  const within = (level: number, condition: Fragment): Fragment =>
    join([...equal.slice(0, level), condition], ' and ')
  const ranges: KeysetRange[] = [{ condition: within(served, afterRow(keys.slice(served))), fixed: served }]
  for (let level = served - 1; level >= 0; level--) {
    const key = keys[level]!
    if (!key.last && key.descending) continue
    following(key).forEach((condition, i) =>
      ranges.push({ condition: within(level, condition), fixed: level + i }),
    )
  }
  return ranges
}

/** The keys of a plan with the row after which its page begins. `encodeId` makes the value of the column `id`. */
export function afterKeys(
  plan: ReadPlan & Required<Pick<ReadPlan, 'after'>>,
  translation: Translation,
  encodeId: (id: Json) => SqlValue,
): readonly AfterKey[] {
  const { sort, after, arguments: given = [] } = plan
  // `_id` is unique, so no later key decides.
  const own = sort.findIndex(isOwnId)
  const sorted = sort.slice(0, own === -1 ? sort.length : own).map(({ field, descending }, i): AfterKey => {
    const value = sortValue(field, descending, translation)
    const operand = operandAt(given.length + i, after[i]!, field)
    const encode = (each: Json): SqlValue => translation.dialect.value(each, typeOf(field.field))
    const last = operand === null ? {} : { last: operandParam(operand, encode) }
    if (field.score || field.joined || field.steps.includes('*')) return { value, descending, ...last }
    const compare = (op: '$eq' | '$lt' | '$gt', to: Operand): Fragment =>
      filterTerms([{ kind: 'compare', field, op, value: to }], translation)[0]!
    const indexed: AfterKey['indexed'] = {
      compared: (op) => compare(op, operand),
      isNull: () => compare('$eq', null),
      isThere: () => translation.dialect.isThere(value),
    }
    return { value, descending, ...last, indexed }
  })
  const id: AfterKey = {
    value: raw(`${translation.qualifier}id`),
    descending: sort[own]?.descending ?? false,
    last: argument(given.length + sort.length, encodeId),
    isNeverNull: true,
  }
  return [...sorted, id]
}

/** Whether the key is the `_id` of the document itself. */
export function isOwnId({ field }: SortKey<FieldRef>): boolean {
  return !field.joined && field.field.path === '_id'
}

/** A long value stays a literal, because the SQL depends on its length. */
function operandAt(place: number, value: Json, { field }: FieldRef): Operand {
  const element = field.kind === 'array' ? field.element : field
  const type = element.kind === 'simple' ? TYPES[element.type.name] : undefined
  return type && isLiteral(value) ? { ...valueParameter(place), type } : value
}

/** How many sort keys an index serves, after fields that the query fixes to one value; ranges need no more. */
export function servedKeys({ query, sort, asOf }: ReadPlan, indexes: Iterable<IndexDefinition>): number {
  // Values of other documents are computed for all rows, whatever their order.
  if (asOf !== undefined || sort.length === 0 || sortsByOthers(sort)) return 0
  const fixed = new Set((query ? conjunctsOf(query) : []).flatMap(fixedPath))
  let [served, beside, isFiltered] = [0, 0, false]
  for (const { fields } of indexes) {
    const prefix = fields.findIndex((field) => !isUsable(field) || !fixed.has(field.path))
    const skipped = prefix === -1 ? fields.length : prefix
    const count = keysIn(fields.slice(skipped), { sort, fixed })
    isFiltered ||= skipped > 0
    if (skipped > 0) served = Math.max(served, count)
    else beside = Math.max(beside, count)
  }
  // An index that finds the matches by value is better than one that only orders all documents.
  return Math.min(isFiltered ? served : beside, MAX_SERVED, servedBeside(query))
}

/** Each key adds up to two ranges, and each range repeats the filter. */
const MAX_SERVED = 3

/** Planning a statement takes time that grows faster than its length, so a long filter is not repeated often. */
function servedBeside(query: Query<unknown> | undefined): number {
  if (!query) return MAX_SERVED
  const conditions = nodesOf(query).take(MAX_REPEATED).toArray().length
  return Math.floor((MAX_REPEATED / conditions - 1) / 2)
}

/** Conditions of a filter, in all ranges together. */
const MAX_REPEATED = 1_000

function keysIn(
  fields: readonly IndexField[],
  { sort, fixed }: { readonly sort: ReadPlan['sort']; readonly fixed: ReadonlySet<string> },
): number {
  let count = 0
  for (const field of fields) {
    const key = sort[count]
    if (!key || !isUsable(field)) break
    if (isOf(field, key.field)) count++
    else if (!fixed.has(field.path)) break
  }
  return count
}

function isUsable({ path, caseInsensitive }: IndexField): boolean {
  return !caseInsensitive && !path.includes('*')
}

function isOf({ path, type, isMixed }: IndexField, { up, steps, field }: FieldRef): boolean {
  const isPlain = up === 0 && !steps.some((step) => typeof step === 'number' || step === '*')
  return isPlain && field.path === path && typeOf(field) === readAsOf(type, isMixed)
}

function fixedPath(term: Query<FieldRef>): readonly string[] {
  if (term.kind !== 'compare' || term.op !== '$eq' || term.value === null) return []
  const { up, steps, field } = term.field
  return up === 0 && !steps.includes('*') ? [field.path] : []
}

/** The values of the row after which a page begins, as a stream continues from them. */
export function afterValues(
  { sort, after, idType }: ReadPlan,
  { value }: Translation['dialect'],
  encodeId: (id: Json, idType: TypeName) => SqlValue,
): readonly SqlValue[] | undefined {
  return after?.map((each, i) => {
    if (each === null) return null
    const key = sort[i]
    return key ? value(each, typeOf(key.field.field)) : encodeId(each, idType)
  })
}

export function withLast(keys: readonly OrderedValue[], last: readonly SqlValue[]): readonly AfterKey[] {
  return keys.map((key, i) => (last[i] === null ? key : { ...key, last: param(last[i]!) }))
}
