/** Conditions that indexes serve. Each follows from the query, so that adding it does not change the result. */
import { unreachable } from '../../../base/errors.ts'
import type { Json } from '../../../base/json/json.ts'
import { once } from '../../../base/memo.ts'
import { foldCase } from '../../../base/text.ts'
import type { CompareOp } from '../../../lang/operators.ts'
import { type Query, conjunctsOf, eachAlternativeHas, isValueClause } from '../../../lang/query.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import { type Comparands, comparand, comparands, operandParam } from '../../sql/comparands.ts'
import { type Fragment, type SqlValue, join, param, raw, sql } from '../../sql/fragment.ts'
import { type ImpliedBound, impliedBoundsBy } from '../../sql/implied-bounds.ts'
import { POSTGRES, arrayText } from '../../sql/postgres-dialect.ts'
import { literalPrefix, prefixEnd } from '../../sql/pattern/prefix.ts'
import { isWholeArray, typeOf } from '../../sql/translation.ts'
import type { Table } from '../schema/catalogue.ts'
import { RULES, TYPES } from '../schema/columns.ts'
import { type Columns, type TextIndex, columnsOf, elementsAt, idKey } from '../schema/indexes.ts'

type Kind<K extends Query<FieldRef>['kind']> = Query<FieldRef> & { readonly kind: K }

export function indexConditionsOf(
  table: Table,
  columns: Columns,
): (query: Query<FieldRef>) => Fragment | undefined {
  const rows = { table, columns }
  const boundsOf = once(() => impliedBoundsBy(table.ordered))
  return (query) => {
    if (query.kind === 'or') {
      const bounds = boundsOf()(query).flatMap((each) => boundedBy(each, rows) ?? [])
      return bounds.length === 0 ? undefined : join(bounds, ' and ')
    }
    if (query.kind === 'elemMatch') return elemMatchHint(query, rows)
    if (!isValueClause(query)) return undefined
    switch (query.kind) {
      case 'compare':
        return compareHint(query, rows)
      case 'in':
        return query.negated ? undefined : anyHint(query.field, comparands(query.values), rows)
      case 'contains':
        return containsHint(query, rows)
      case 'regex':
        return regexHint(query, rows)
      default:
        return unreachable(query)
    }
  }
}

/** Whether an index leads to the documents that satisfy the term. */
export function isServed(term: Query<FieldRef>, table: Table): boolean {
  const isPlain =
    (term.kind === 'compare' && CONDITIONS[term.op] !== undefined) || (term.kind === 'in' && !term.negated)
  if (term.kind === 'text') return term.terms.some(({ isExcluded }) => !isExcluded)
  // The planner combines the indexes of all alternatives, if every one of them has one.
  if (term.kind === 'or') return eachAlternativeHas(term, (each) => isServed(each, table))
  if (isPlain && table.firsts.has(term.field.field.path)) return true
  return indexConditionsOf(table, columnsOf(table.layout))(term) !== undefined
}

/** A table and the names of its columns. */
interface Rows {
  readonly table: Table
  readonly columns: Columns
}

function compareHint({ field, op, value }: Kind<'compare'>, rows: Rows): Fragment | undefined {
  const condition = CONDITIONS[op]
  if (value === null) return op === '$eq' ? nullHint(field, rows) : undefined
  const compared = comparand(value)
  if (condition === undefined || !compared) return undefined
  if (condition === '=') return anyHint(field, compared, rows)
  const index = textIndexAt(field, rows.table)
  if (!index || !compared.areTexts()) return undefined
  // Up to the indexed length, the beginning of a text compares like the text itself. A longer value is cut,
  // and its bound then includes equality.
  const operator = compared.maxCharacters() < index.length ? condition.exact : condition.cut
  const start = compared.encoded(([only]) => beginning(only!, index))
  return sql`${index.expression(rows.columns.document)} ${raw(operator)} ${start}`
}

/** The beginning of a text is null exactly where the text is. */
function nullHint(field: FieldRef, { table, columns }: Rows): Fragment | undefined {
  const index = textIndexAt(field, table)
  return index && sql`${index.expression(columns.document)} is null`
}

/** The condition that an index serves: an equality, or a range whose bound is exact or cut; undefined for none. */
const CONDITIONS: Readonly<
  Record<CompareOp, '=' | { readonly exact: string; readonly cut: '<=' | '>=' } | undefined>
> = {
  $eq: '=',
  $neq: undefined,
  $lt: { exact: '<', cut: '<=' },
  $lte: { exact: '<=', cut: '<=' },
  $gt: { exact: '>', cut: '>=' },
  $gte: { exact: '>=', cut: '>=' },
}

function boundedBy({ field, side, values }: ImpliedBound, rows: Rows): Fragment | undefined {
  const bounded = boundedForm(field, values.map(comparand), rows)
  if (!bounded) return undefined
  // The type of an argument among others is not inferred from the comparison.
  const cast = raw(`::${bounded.type}`)
  const bounds = values.map((value) => sql`${operandParam(value, bounded.encode)}${cast}`)
  const [operator, loosest] = side === 'max' ? ['<=', 'greatest'] : ['>=', 'least']
  return sql`${bounded.subject} ${raw(operator)} ${raw(loosest)}(${join(bounds, ', ')})`
}

interface BoundedForm {
  readonly subject: Fragment
  readonly type: string
  readonly encode: (value: Json) => SqlValue
}

/** What the index contains of a field. The beginnings of texts, and the keys of ids, are in the order of the values. */
function boundedForm(
  field: FieldRef,
  values: readonly (Comparands | undefined)[],
  { table, columns }: Rows,
): BoundedForm | undefined {
  const text = TYPES.text
  if (field.field.path === '_id') return { subject: raw(columns.id), type: text, encode: idKey }
  const index = textIndexAt(field, table)
  if (index) {
    if (!values.every((each) => each?.areTexts())) return undefined
    const encode = (value: Json): string => beginning(value, index)
    return { subject: index.expression(columns.document), type: text, encode }
  }
  const type = typeOf(field.field)
  const kind = RULES.readings[type]
  if (kind === undefined) return undefined
  const encode = (value: Json): SqlValue => POSTGRES.value(value, type)
  return { subject: POSTGRES.read(columns.document, field.steps, type), type: TYPES[kind], encode }
}

/** At least one candidate equals one of the values. */
function anyHint(
  at: FieldRef,
  values: Comparands | undefined,
  { table, columns }: Rows,
): Fragment | undefined {
  const { up, field, steps } = at
  if (up > 0 || !values) return undefined
  if (field.path === '_id') return among(raw(columns.id), values, idKey)
  if (isWholeArray(steps) && table.elements.has(field.path)) {
    return holdsAny(elementsAt(field.path, columns.document), values)
  }
  // A version may define the field with another type; an index of texts does not serve that.
  if (!values.areTexts()) return undefined
  const exact = textIndexAt(at, table)
  // Equal texts are equal when folded: an index of folded text finds few documents, which are compared exactly.
  const index = exact ?? textIndexAt(at, table, true)
  if (!index) return undefined
  const form = (value: Json): string => beginning(exact ? value : foldCase(value as string), index)
  return among(index.expression(columns.document), values, form)
}

function containsHint(
  { array, op, values }: Kind<'contains'>,
  { table, columns }: Rows,
): Fragment | undefined {
  const path = `${array.field.path}.*`
  const isIndexed = array.up === 0 && table.elements.has(path)
  if (!isIndexed) return undefined
  const elements = elementsAt(path, columns.document)
  switch (op) {
    case '$any': {
      const anyOf = comparands(values)
      return anyOf && holdsAny(elements, anyOf)
    }
    case '$all': {
      const first = comparand(values.find((value) => value !== null) ?? null)
      return first && holdsAny(elements, first)
    }
    case '$none':
      return undefined
    default:
      return unreachable(op)
  }
}

/** A condition that one element must satisfy implies that some element does, for each conjunct by itself. */
function elemMatchHint({ array, query }: Kind<'elemMatch'>, { table, columns }: Rows): Fragment | undefined {
  if (array.up > 0) return undefined
  const hints = conjunctsOf(query).flatMap((term) => {
    if (term.kind !== 'compare' || term.op !== '$eq' || term.field.up > 0) return []
    const { path } = term.field.field
    const compared = comparand(term.value)
    return compared && table.elements.has(path)
      ? [holdsAny(elementsAt(path, columns.document), compared)]
      : []
  })
  return hints.length === 0 ? undefined : join(hints, ' and ')
}

function regexHint({ field, pattern, flags }: Kind<'regex'>, { table, columns }: Rows): Fragment | undefined {
  const { caseInsensitive } = flags
  const index = textIndexAt(field, table, caseInsensitive)
  const prefix = literalPrefix(pattern, flags)
  if (!index || prefix === '') return undefined
  const start = beginning(caseInsensitive ? foldCase(prefix) : prefix, index)
  const end = prefixEnd(start)
  const expression = index.expression(columns.document)
  const from = sql`${expression} >= ${param(start)}`
  return end === undefined ? from : sql`(${from} and ${expression} < ${param(end)})`
}

export function textIndexAt(
  { up, steps, field }: FieldRef,
  table: Table,
  isFolded = false,
): TextIndex | undefined {
  if (up > 0 || steps.some((step) => typeof step === 'number' || step === '*')) return undefined
  return (isFolded ? table.folded : table.texts).get(field.path)
}

function holdsAny(elements: Fragment, values: Comparands): Fragment {
  const text = (value: Json): string => JSON.stringify([value])
  if (values.hasOne) return sql`${elements} @> ${values.encoded(([only]) => text(only!))}`
  return sql`${elements} @> any(${values.encoded((all) => arrayText(all.map(text)))}::jsonb[])`
}

function among(subject: Fragment, values: Comparands, form: (value: Json) => string): Fragment {
  if (values.hasOne) return sql`${subject} = ${values.encoded(([only]) => form(only!))}`
  return sql`${subject} = any(${values.encoded((all) => arrayText(all.map(form)))})`
}

/** The indexed part of a text, counted in code points like `left` in SQL. */
function beginning(text: Json, { length }: TextIndex): string {
  return Array.from(text as string)
    .slice(0, length)
    .join('')
}
