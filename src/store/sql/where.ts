/**
 * Queries as SQL: the second interpreter of `Query<FieldRef>`. The agreement test compares it with the first
 * (`lang/evaluate/match.ts`). NULL counts as false: `and` and `or` do not distinguish them, so only negations
 * need care. Positive comparisons stay bare, so that indexes serve them.
 */
import { unreachable } from '../../base/errors.ts'
import { foldCase } from '../../base/text.ts'
import { DENIED, isNegative } from '../../lang/operators.ts'
import { type Query, conjunctsOf } from '../../lang/query.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import { operandParam } from './comparands.ts'
import type { Base } from './dialect.ts'
import { type Fragment, join, joinBalanced, param, raw, sql } from './fragment.ts'
import { literalPrefix, prefixEnd } from './pattern/prefix.ts'
import {
  OPERATORS,
  type Translation,
  alive,
  aroundElements,
  isIn,
  isWholeArray,
  isNull,
  not,
  some,
  typeOf,
} from './translation.ts'
import { compareFields, contains, inField } from './where-arrays.ts'
import { related, unrelated } from './where-related.ts'

/** The terms of a filter, each in the form that its indexes serve best. */
export function filterTerms(terms: readonly Query<FieldRef>[], to: Translation): readonly Fragment[] {
  return terms.map((term) => to.indexed?.(term) ?? where(term, to))
}

export function where(query: Query<FieldRef>, to: Translation): Fragment {
  const hint = to.scopes.length === 1 ? to.hint?.(query) : undefined
  const exact = translate(query, to)
  return hint ? sql`(${hint} and ${exact})` : exact
}

function translate(query: Query<FieldRef>, to: Translation): Fragment {
  switch (query.kind) {
    case 'compare':
      return compare(query, to)
    case 'in': {
      const listed = some(query.field, isIn(query.values, to, typeOf(query.field.field)), to)
      return query.negated ? not(listed) : listed
    }
    case 'regex':
      return regex(query, to)
    case 'compareFields':
      return compareFields(query, to)
    case 'inField':
      return inField(query, to)
    case 'contains':
      return contains(query, to)
    case 'elemMatch':
      return elemMatch(query, to)
    case 'related':
      return related(query, to, filterTerms)
    case 'and':
    case 'or':
      if (query.terms.length === 0) return raw(query.kind === 'and' ? '1=1' : '1=0')
      return sql`(${joinBalanced(
        query.terms.map((term) => where(term, query.kind === 'or' ? { ...to, isOptional: true } : to)),
        ` ${query.kind} `,
      )})`
    case 'not':
      if (query.term.kind === 'related') return unrelated(query.term, to, filterTerms)
      return not(where(query.term, { ...to, isOptional: true }))
    default:
      return unreachable(query)
  }
}

/**
 * An index on single elements narrows the search; whether one element satisfies all conditions is tested on
 * the documents.
 */
function elemMatch({ array, query }: Query<FieldRef> & { kind: 'elemMatch' }, to: Translation): Fragment {
  const scopes = aroundElements(to).slice(array.up)
  const found = someElement(array, scopes[0]!, { ...to, scopes }, (inner) => where(query, inner))
  const hints = conjunctsOf(query).flatMap((term) => {
    const seen = seenFromOutside(term, array)
    return seen && to.elementsOf(seen.field.field.path) !== undefined ? [compare(seen, to)] : []
  })
  return hints.length === 0 ? found : sql`(${join([...hints, found], ' and ')})`
}

/** A comparison inside an elemMatch as a comparison of all elements, which the elemMatch implies. */
function seenFromOutside(term: Query<FieldRef>, array: FieldRef): Comparison | undefined {
  if (term.kind !== 'compare' || isNegative(term.op) || term.value === null || term.field.up > 0)
    return undefined
  const field = { ...term.field, up: array.up, steps: [...array.steps, '*', ...term.field.steps] }
  return { ...term, field }
}

type Comparison = Query<FieldRef> & { kind: 'compare' }

/** Tests some element of some array at the path; every `*` opens a scope, as in `lang/evaluate/match.ts`. */
function someElement(
  { steps, field }: Pick<FieldRef, 'steps' | 'field'>,
  base: Base,
  to: Translation,
  test: (inner: Translation) => Fragment,
): Fragment {
  const star = steps.indexOf('*')
  const head = star === -1 ? steps : steps.slice(0, star)
  const options = { alias: to.alias(), isMixed: field.isMixed }
  const { from, element, position } = to.dialect.each(base, head, options)
  const inner = { ...to, scopes: [element, ...to.scopes] }
  const rest = { steps: steps.slice(star + 1), field }
  const holds = star === -1 ? test(inner) : someElement(rest, element, inner, test)
  return sql`exists (select 1 from ${from} where ${alive(to, position)}${holds})`
}

function compare({ field, op, value }: Query<FieldRef> & { kind: 'compare' }, to: Translation): Fragment {
  if (isNegative(op)) return not(compare({ kind: 'compare', field, op: DENIED[op], value }, to))
  if (value === null) return some(field, isNull, to)
  const type = typeOf(field.field)
  const bound = operandParam(value, (each) => to.dialect.value(each, type))
  return some(field, (subject) => subject && sql`${subject} ${raw(OPERATORS[op])} ${bound}`, to)
}

function regex(query: Query<FieldRef> & { kind: 'regex' }, to: Translation): Fragment {
  const found = some(query.field, (subject) => matches(subject, query, to), to)
  const { field, steps } = query.field
  const prefix = query.flags.caseInsensitive ? foldCase(literalPrefix(query.pattern, query.flags)) : ''
  const isIndexable = prefix !== '' && isWholeArray(steps) && to.scopes.length === 1
  const table = isIndexable ? to.foldedElementsOf(field.path) : undefined
  if (table === undefined) return found
  // The index has folded text only: it narrows the search, and the text itself is tested on the documents.
  const within = startsWith(raw('k0'), prefix)
  return sql`(${raw(to.qualifier)}no in (select doc from ${raw(table)} where ${within}) and ${found})`
}

function startsWith(text: Fragment, prefix: string): Fragment {
  const end = prefixEnd(prefix)
  const below = end === undefined ? raw('') : sql` and ${text} < ${param(end)}`
  return sql`${text} >= ${param(prefix)}${below}`
}

/** A pattern with a literal prefix can only match a range of texts, which an index serves. */
function matches(subject: Fragment | undefined, query: Query<FieldRef> & { kind: 'regex' }, to: Translation) {
  if (!subject) return undefined
  const test = to.dialect.matches(subject, query.pattern, query.flags)
  const prefix = literalPrefix(query.pattern, query.flags)
  if (prefix === '') return test
  const { caseInsensitive } = query.flags
  if (caseInsensitive && !to.hasFoldedIndex(query.field.field.path)) return test
  const text = caseInsensitive ? to.dialect.fold(subject) : subject
  const start = caseInsensitive ? foldCase(prefix) : prefix
  return sql`(${startsWith(text, start)} and ${test})`
}
