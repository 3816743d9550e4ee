/** Conditions that indexes serve. Each follows from the query, so that adding it does not change the result. */
import type { Json } from '../../../base/json/json.ts'
import { foldCase } from '../../../base/text.ts'
import type { Operand } from '../../../lang/operand.ts'
import { type Query, conjunctsOf } from '../../../lang/query.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import { type Comparands, comparand, comparands, operandParam } from '../../sql/comparands.ts'
import type { Base } from '../../sql/dialect.ts'
import { type Fragment, join, raw, sql } from '../../sql/fragment.ts'
import { SQLITE } from '../../sql/sqlite-dialect.ts'
import { isWholeArray, typeOf } from '../../sql/translation.ts'
import type { Table } from '../catalogue.ts'
import { documentIn } from '../columns.ts'

export function indexConditionOf(
  table: Table,
  qualifier: string,
): (query: Query<FieldRef>) => Fragment | undefined {
  return (query) => {
    if (query.kind === 'or') return boundOf(query.terms, table, qualifier)
    const compared = equalityIn(query)
    return compared && foldedCondition(compared, table, qualifier)
  }
}

interface Equality {
  readonly field: FieldRef
  readonly values: Comparands
}

/** A comparison with values, one of which some candidate equals. */
function equalityIn(query: Query<FieldRef>): Equality | undefined {
  const isPositive =
    (query.kind === 'compare' && query.op === '$eq') || (query.kind === 'in' && !query.negated)
  if (!isPositive) return undefined
  const values = query.kind === 'compare' ? comparand(query.value) : comparands(query.values)
  return values && { field: query.field, values }
}

/** Equal texts are equal when folded: an index of folded text finds few documents, which are compared exactly. */
function foldedCondition(
  { field: { up, steps, field }, values }: Equality,
  table: Table,
  qualifier: string,
): Fragment | undefined {
  const { path } = field
  if (up > 0 || !values.areTexts()) return undefined
  if (isWholeArray(steps)) {
    const elements = table.elements.has(path) ? undefined : table.foldedElements.get(path)
    if (elements === undefined) return undefined
    return sql`${raw(qualifier)}no in (select doc from ${raw(elements)} where ${isFoldedIn(raw('k0'), values)})`
  }
  const isIndexed = table.folded.has(path) && !table.firsts.has(path)
  if (!isIndexed || steps.some((step) => typeof step === 'number')) return undefined
  return isFoldedIn(
    SQLITE.fold(SQLITE.read(documentIn(table.columns, qualifier), steps, typeOf(field))),
    values,
  )
}

function isFoldedIn(folded: Fragment, values: Comparands): Fragment {
  const fold = (value: Json): string => foldCase(value as string)
  if (values.hasOne) return sql`${folded} = ${values.encoded(([only]) => fold(only!))}`
  const list = values.encoded((all) => JSON.stringify(all.map(fold)))
  return sql`${folded} in (select value from json_each(${list}))`
}

/**
 * The bound that all alternatives of an `or` imply for an indexed field, as in `a < 5 or (a = 5 and b > 7)`. With it the
 * index finds the beginning of a page; SQLite would read each alternative separately, and sort all matches.
 */
function boundOf(terms: readonly Query<FieldRef>[], table: Table, qualifier: string): Fragment | undefined {
  if (terms.length < 2 || terms.length > MAX_ALTERNATIVES) return undefined
  const alternatives = terms.map((term) => conjunctsOf(term).flatMap((each) => comparisonIn(each, table)))
  for (const first of alternatives[0]!) {
    const side = first.side ?? alternatives.flat().find(({ path, side }) => path === first.path && side)?.side
    if (!side) continue
    const bounds = alternatives.map((each) =>
      each.find((other) => other.path === first.path && (other.side ?? side) === side),
    )
    if (bounds.every((bound) => bound !== undefined)) {
      return boundBy(bounds, side, documentIn(table.columns, qualifier))
    }
  }
  return undefined
}

/** Functions of SQLite have a limited number of arguments. */
const MAX_ALTERNATIVES = 8

type Side = '<=' | '>='

interface Comparison {
  readonly path: string
  readonly field: FieldRef
  readonly value: Operand
  /** Absent: equal. */
  readonly side?: Side
}

function comparisonIn(query: Query<FieldRef>, table: Table): readonly Comparison[] {
  if (query.kind !== 'compare' || query.value === null || !(query.op in SIDES)) return []
  const { field, value, op } = query
  const { path } = field.field
  const isPlain = field.up === 0 && !field.steps.some((step) => typeof step === 'number' || step === '*')
  if (!isPlain || !(table.firsts.has(path) || path === '_id')) return []
  const side = SIDES[op as keyof typeof SIDES]
  return [{ path, field, value, ...(side && { side }) }]
}

const SIDES: Readonly<Record<'$eq' | '$lt' | '$lte' | '$gt' | '$gte', Side | undefined>> = {
  $eq: undefined,
  $lt: '<=',
  $lte: '<=',
  $gt: '>=',
  $gte: '>=',
}

function boundBy(bounds: readonly Comparison[], side: Side, document: Base): Fragment {
  const { field } = bounds[0]!
  const type = typeOf(field.field)
  const values = bounds.map(({ value }) => operandParam(value, (each) => SQLITE.value(each, type)))
  const subject = SQLITE.read(document, field.steps, type)
  return sql`${subject} ${raw(side)} ${raw(side === '<=' ? 'max' : 'min')}(${join(values, ', ')})`
}
