/**
 * Queries as SQL: the second interpreter of `Query<FieldRef>`. The agreement test compares it with the first
 * (`lang/evaluate/match.ts`). NULL counts as false: `and` and `or` do not distinguish them, so only negations
 * need care. Positive comparisons stay bare, so that indexes serve them.
 */
import { unreachable } from '../../base/errors.ts'
import { foldCase } from '../../base/text.ts'
import { spend } from '../../base/work/work.ts'
import { NEGATED_OP, isNegative } from '../../lang/operators.ts'
import { type Query, conjunctsOf } from '../../lang/query.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import { comparand, operandParam } from './comparands.ts'
import type { Base } from './dialect.ts'
import { type Fragment, join, joinBalanced, param, raw, sql } from './fragment.ts'
import { literalPrefix, prefixEnd } from './pattern/prefix.ts'
import {
  OPERATORS,
  type Translation,
  alive,
  comparedWith,
  scopesAroundElements,
  isIn,
  isWholeArray,
  isNull,
  loopsOf,
  not,
  some,
  typeOf,
} from './translation.ts'
import { compareFields, contains, inField } from './where-arrays.ts'
import { related, unrelated } from './where-related.ts'

/** A condition on a reference may be written twice, so that the nodes that were counted before do not cover it. */
const STEPS_PER_NODE = 40

/** The terms of a filter, each in the form that its indexes serve best. */
export function filterTerms(
  terms: readonly Query<FieldRef>[],
  translation: Translation,
): readonly Fragment[] {
  return terms.map((term) => translation.indexed?.(term) ?? where(term, translation))
}

export function where(query: Query<FieldRef>, translation: Translation): Fragment {
  spend(STEPS_PER_NODE)
  const hint = translation.scopes.length === 1 ? translation.hint?.(query) : undefined
  const exact = translate(query, translation)
  return hint ? sql`(${hint} and ${exact})` : exact
}

function translate(query: Query<FieldRef>, translation: Translation): Fragment {
  switch (query.kind) {
    case 'compare':
      return compare(query, translation)
    case 'in': {
      const listed = some(
        query.field,
        isIn(query.values, translation, typeOf(query.field.field)),
        translation,
      )
      return query.negated ? not(listed) : listed
    }
    case 'regex':
      return regex(query, translation)
    case 'compareFields':
      return compareFields(query, translation)
    case 'inField':
      return inField(query, translation)
    case 'contains':
      return contains(query, translation)
    case 'text':
      return translation.scopes[query.fields[0]!.up]!.search!(query)
    case 'elemMatch':
      return elemMatch(query, translation)
    case 'related':
      return related(query, translation, filterTerms)
    case 'and':
    case 'or':
      if (query.terms.length === 0) return raw(query.kind === 'and' ? '1=1' : '1=0')
      return sql`(${joinBalanced(
        query.terms.map((term) =>
          where(term, query.kind === 'or' ? { ...translation, isOptional: true } : translation),
        ),
        ` ${query.kind} `,
      )})`
    case 'not':
      if (query.term.kind === 'related') return unrelated(query.term, translation, filterTerms)
      return not(where(query.term, { ...translation, isOptional: true }))
    default:
      return unreachable(query)
  }
}

/**
 * An index on single elements narrows the search; whether one element satisfies all conditions is tested on
 * the documents.
 */
function elemMatch(
  { array, query }: Query<FieldRef> & { kind: 'elemMatch' },
  translation: Translation,
): Fragment {
  const scopes = scopesAroundElements(translation).slice(array.up)
  const found = someElement(array, scopes[0]!, { ...translation, scopes }, (inner) => where(query, inner))
  const hints = conjunctsOf(query).flatMap((term) => {
    const implied = asConditionOnAllElements(term, array)
    return implied && translation.elementsOf(implied.field.field) !== undefined
      ? [compare(implied, translation)]
      : []
  })
  return hints.length === 0 ? found : sql`(${join([...hints, found], ' and ')})`
}

/** A comparison inside an elemMatch as a comparison of all elements, which the elemMatch implies. */
export function asConditionOnAllElements(term: Query<FieldRef>, array: FieldRef): Comparison | undefined {
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
  translation: Translation,
  test: (inner: Translation) => Fragment,
): Fragment {
  if (translation.isFlat) return someElementOfAll({ steps, field }, base, translation, test)
  const star = steps.indexOf('*')
  const head = star === -1 ? steps : steps.slice(0, star)
  const options = { alias: translation.alias(), isMixed: field.isMixed }
  const { from, element, position } = translation.dialect.each(base, head, options)
  const inner = { ...translation, scopes: [element, ...translation.scopes] }
  const rest = { steps: steps.slice(star + 1), field }
  const holds = star === -1 ? test(inner) : someElement(rest, element, inner, test)
  return sql`exists (select 1 from ${from} where ${alive(translation, position)}${holds})`
}

/** The same in one subselect. */
function someElementOfAll(
  { steps, field }: Pick<FieldRef, 'steps' | 'field'>,
  base: Base,
  translation: Translation,
  test: (inner: Translation) => Fragment,
): Fragment {
  const elements = { steps: [...steps, '*'] as const, isMixed: field.isMixed }
  const { loops, bases } = loopsOf(base, elements, translation)
  const inner = { ...translation, scopes: [...bases.toReversed(), ...translation.scopes] }
  return sql`exists (select 1 from ${join(loops, ', ')} where ${test(inner)})`
}

function compare(
  { field, op, value }: Query<FieldRef> & { kind: 'compare' },
  translation: Translation,
): Fragment {
  if (isNegative(op)) return not(compare({ kind: 'compare', field, op: NEGATED_OP[op], value }, translation))
  if (value === null) return some(field, isNull, translation)
  const type = typeOf(field.field)
  const bound = operandParam(value, (each) => translation.dialect.value(each, type))
  const compared = comparand(value)
  const test = (subject: Fragment): Fragment =>
    sql`${comparedWith(subject, compared)} ${raw(OPERATORS[op])} ${bound}`
  return some(field, (subject) => subject && test(subject), translation)
}

function regex(query: Query<FieldRef> & { kind: 'regex' }, translation: Translation): Fragment {
  const found = some(query.field, (subject) => matches(subject, query, translation), translation)
  const { field, steps } = query.field
  const prefix = query.flags.caseInsensitive ? foldCase(literalPrefix(query.pattern, query.flags)) : ''
  const isIndexable = prefix !== '' && isWholeArray(steps) && translation.scopes.length === 1
  const table = isIndexable ? translation.foldedElementsOf(field.path) : undefined
  if (table === undefined) return found
  // The index has folded text only: it narrows the search, and the text itself is tested on the documents.
  const within = startsWith(raw('k0'), prefix)
  return sql`(${raw(translation.qualifier)}no in (select doc from ${raw(table)} where ${within}) and ${found})`
}

function startsWith(text: Fragment, prefix: string): Fragment {
  const end = prefixEnd(prefix)
  const below = end === undefined ? raw('') : sql` and ${text} < ${param(end)}`
  return sql`${text} >= ${param(prefix)}${below}`
}

/** A pattern with a literal prefix can only match a range of texts, which an index serves. */
function matches(
  subject: Fragment | undefined,
  query: Query<FieldRef> & { kind: 'regex' },
  translation: Translation,
) {
  if (!subject) return undefined
  const test = translation.dialect.matches(subject, query.pattern, query.flags)
  const prefix = literalPrefix(query.pattern, query.flags)
  if (prefix === '') return test
  const { caseInsensitive } = query.flags
  if (caseInsensitive && !translation.hasFoldedIndex(query.field.field.path)) return test
  const text = caseInsensitive ? translation.dialect.fold(subject) : subject
  const start = caseInsensitive ? foldCase(prefix) : prefix
  return sql`(${startsWith(text, start)} and ${test})`
}
