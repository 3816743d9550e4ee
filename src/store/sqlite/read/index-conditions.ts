/** Conditions that indexes serve. Each follows from the query, so that adding it does not change the result. */
import type { Json } from '../../../base/json/json.ts'
import { once } from '../../../base/memo.ts'
import { foldCase } from '../../../base/text.ts'
import type { Query } from '../../../lang/query.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import { type Comparands, comparand, comparands, operandParam } from '../../sql/comparands.ts'
import type { Base } from '../../sql/dialect.ts'
import { type Fragment, join, raw, sql } from '../../sql/fragment.ts'
import { type ImpliedBound, impliedBoundsBy } from '../../sql/implied-bounds.ts'
import { SQLITE } from '../../sql/sqlite-dialect.ts'
import { isWholeArray, typeOf } from '../../sql/translation.ts'
import type { Table } from '../catalogue.ts'
import { documentIn } from '../columns.ts'

export function indexConditionOf(
  table: Table,
  qualifier: string,
): (query: Query<FieldRef>) => Fragment | undefined {
  const boundsOf = once(() => impliedBoundsBy(table.ordered))
  return (query) => {
    if (query.kind === 'or') {
      const document = documentIn(table.columns, qualifier)
      const bounds = boundsOf()(query).map((each) => boundedBy(each, document))
      return bounds.length === 0 ? undefined : join(bounds, ' and ')
    }
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

function boundedBy({ field, side, values }: ImpliedBound, document: Base): Fragment {
  const type = typeOf(field.field)
  const bounds = values.map((value) => operandParam(value, (each) => SQLITE.value(each, type)))
  const subject = SQLITE.read(document, field.steps, type)
  return sql`${subject} ${raw(side === 'max' ? '<=' : '>=')} ${raw(side)}(${join(bounds, ', ')})`
}
