/** Conditions that indexes serve. Each holds wherever the query does, so that asking both changes no answer. */
import { unreachable } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import { foldCase } from '../../base/text.ts'
import { type Query, conjunctsOf } from '../../lang/query.ts'
import type { FieldRef } from '../../lang/scope.ts'
import { type Fragment, join, param, raw, sql } from '../sql/fragment.ts'
import { arrayText } from '../sql/postgres-dialect.ts'
import { literalPrefix, prefixEnd } from '../sql/prefix.ts'
import { OPERATORS, isWholeArray } from '../sql/translation.ts'
import type { Table } from './catalogue.ts'
import { type TextIndex, idKey } from './indexes.ts'

type Kind<K extends Query<FieldRef>['kind']> = Query<FieldRef> & { readonly kind: K }

export function hintsOf(table: Table): (query: Query<FieldRef>) => Fragment | undefined {
  return (query) => {
    switch (query.kind) {
      case 'compare':
        return compareHint(query, table)
      case 'in':
        return query.negated ? undefined : anyHint(query.field, query.values, table)
      case 'contains':
        return containsHint(query, table)
      case 'elemMatch':
        return elemMatchHint(query, table)
      case 'regex':
        return regexHint(query, table)
      case 'compareFields':
      case 'inField':
      case 'and':
      case 'or':
      case 'not':
        return undefined
      default:
        return unreachable(query)
    }
  }
}

function compareHint({ field, op, value }: Kind<'compare'>, table: Table): Fragment | undefined {
  if (op === '$neq' || value === null) return undefined
  if (op === '$eq') return anyHint(field, [value], table)
  const index = textIndexAt(field, table)
  if (!index || typeof value !== 'string') return undefined
  const operator = op === '$lt' || op === '$lte' ? '<=' : '>='
  // Up to the indexed length the beginning of a text compares as the text itself does.
  const exact = characters(value) < index.length ? OPERATORS[op] : operator
  return sql`${index.expression} ${raw(exact)} ${param(beginning(value, index))}`
}

/** Some candidate is one of the values. */
function anyHint(at: FieldRef, values: readonly Json[], table: Table): Fragment | undefined {
  const { up, field, steps } = at
  if (up > 0 || values.length === 0 || values.includes(null)) return undefined
  if (field.path === '_id') return among(raw('id'), values.map(idKey))
  const elements = isWholeArray(steps) ? table.elements.get(field.path) : undefined
  if (elements) return holdsAny(elements, values)
  const index = textIndexAt(at, table)
  // A version that makes something else of the field is not served by an index of texts.
  if (!index || !values.every((value) => typeof value === 'string')) return undefined
  return among(
    index.expression,
    values.map((value) => beginning(value, index)),
  )
}

function containsHint({ array, op, values }: Kind<'contains'>, table: Table): Fragment | undefined {
  const elements = array.up === 0 ? table.elements.get(`${array.field.path}.*`) : undefined
  const others = values.filter((value) => value !== null)
  if (!elements || op === '$none' || others.length === 0) return undefined
  if (op === '$all') return holdsAny(elements, others.slice(0, 1))
  return others.length < values.length ? undefined : holdsAny(elements, others)
}

/** What one element must have, some element must have. */
function elemMatchHint({ array, query }: Kind<'elemMatch'>, table: Table): Fragment | undefined {
  if (array.up > 0) return undefined
  const hints = conjunctsOf(query).flatMap((term) => {
    if (term.kind !== 'compare' || term.op !== '$eq' || term.value === null || term.field.up > 0) return []
    const elements = table.elements.get(term.field.field.path)
    return elements ? [holdsAny(elements, [term.value])] : []
  })
  return hints.length === 0 ? undefined : join(hints, ' and ')
}

function regexHint({ field, pattern, flags }: Kind<'regex'>, table: Table): Fragment | undefined {
  const { caseInsensitive } = flags
  const index = textIndexAt(field, table, caseInsensitive)
  const prefix = literalPrefix(pattern, flags)
  if (!index || prefix === '') return undefined
  const start = beginning(caseInsensitive ? foldCase(prefix) : prefix, index)
  const end = prefixEnd(start)
  const from = sql`${index.expression} >= ${param(start)}`
  return end === undefined ? from : sql`(${from} and ${index.expression} < ${param(end)})`
}

export function textIndexAt(
  { up, steps, field }: FieldRef,
  table: Table,
  isFolded = false,
): TextIndex | undefined {
  if (up > 0 || steps.some((step) => typeof step === 'number' || step === '*')) return undefined
  return (isFolded ? table.folded : table.texts).get(field.path)
}

function holdsAny(elements: Fragment, values: readonly Json[]): Fragment {
  const texts = values.map((value) => JSON.stringify([value]))
  if (texts.length === 1) return sql`${elements} @> ${param(texts[0]!)}`
  return sql`${elements} @> any(${param(arrayText(texts))}::jsonb[])`
}

function among(subject: Fragment, values: readonly string[]): Fragment {
  if (values.length === 1) return sql`${subject} = ${param(values[0]!)}`
  return sql`${subject} = any(${param(arrayText(values))})`
}

function beginning(text: string, { length }: TextIndex): string {
  return Array.from(text).slice(0, length).join('')
}

function characters(text: string): number {
  return Array.from(text).length
}
