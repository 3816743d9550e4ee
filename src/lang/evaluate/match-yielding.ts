/**
 * Evaluates queries in time slices. The results are those of `match`, but the generators yield when `shouldYield` returns
 * true, so that a query over many joined documents does not block the event loop. Joined documents are found by index.
 */
import { unreachable } from '../../base/errors.ts'
import { type Json, isArray, isObject, member } from '../../base/json/json.ts'
import type { Step } from '../../base/path.ts'
import { type Near, indexBy } from './join-index.ts'
import { pairsIn } from './join-key.ts'
import { type Seen, candidates, climb } from './candidates.ts'
import { type World, compileCount, compileQuery } from './match.ts'
import {
  type FieldPair,
  type Query,
  type Related,
  allOf,
  childrenOf,
  conjunctsOf,
  isFieldPair,
  isValueClause,
  opensScope,
} from '../query.ts'
import { NEGATED_OP, isNegative } from '../operators.ts'
import type { FieldRef } from '../resolve/scope.ts'
import type { ShouldYield, Yielding } from './time-slice.ts'

interface YieldingContext {
  /** The documents that references may join. */
  readonly world: World
  readonly shouldYield: ShouldYield
}

type Predicate = (seen: Seen) => boolean
type Answer = (seen: Seen) => Yielding<boolean>
type CompiledQuery = { readonly holds: Predicate } | { readonly answer: Answer }

export function compileYielding(query: Query<FieldRef>, context: YieldingContext): Answer {
  const compiled = compileIn(query, context)
  return function* (seen) {
    if (context.shouldYield()) yield
    return 'holds' in compiled ? compiled.holds(seen) : yield* compiled.answer(seen)
  }
}

/** Yields the positions of the matching documents, and undefined to pause. */
export type Places = (outer: Seen) => Generator<number | undefined, void, void>

/** The index is built on first use, inside a generator, because building it may need to yield as well. */
export function compileTargets(
  query: Query<FieldRef>,
  documents: readonly Json[],
  context: YieldingContext,
): Places {
  const { shouldYield } = context
  const compiled = compileIn(query, context)
  let near: Near | undefined
  return function* (outer) {
    near ??= yield* indexBy(pairsIn(conjunctsOf(query)), documents, shouldYield)
    // Checked here too, because many lookups in a row may find nothing.
    if (shouldYield()) yield
    for (const place of near(outer) ?? documents.keys()) {
      if (shouldYield()) yield
      const seen = { value: documents[place], outer }
      if ('holds' in compiled ? compiled.holds(seen) : yield* compiled.answer(seen)) yield place
    }
  }
}

function compileIn(query: Query<FieldRef>, context: YieldingContext): CompiledQuery {
  if (isValueClause(query) || query.kind === 'text' || isBrief(query)) return { holds: compileQuery(query) }
  switch (query.kind) {
    case 'and':
    case 'or':
      return { answer: termsYielding(query.terms, query.kind === 'or', context) }
    case 'not': {
      const answer = compileYielding(query.term, context)
      return {
        *answer(seen) {
          return !(yield* answer(seen))
        },
      }
    }
    case 'elemMatch':
      return { answer: elementsYielding(query, context) }
    case 'related':
      return { answer: relatedYielding(query, context) }
    case 'compareFields':
    case 'inField':
      return { answer: pairsYielding(query, context) }
    default:
      return unreachable(query)
  }
}

/** Whether evaluation takes at most one pass over the document for each clause, so that it need not yield. */
function isBrief(query: Query<FieldRef>): boolean {
  if (opensScope(query)) return false
  if (isFieldPair(query)) return !(isMany(query.field) && isMany(query.rfield))
  return childrenOf(query).every(isBrief)
}

function isMany({ steps, field }: FieldRef): boolean {
  return field.kind === 'array' || steps.includes('*')
}

/** Stops at the first term that decides. Cheap terms are evaluated first. */
function termsYielding(
  terms: readonly Query<FieldRef>[],
  decides: boolean,
  context: YieldingContext,
): Answer {
  const compiled = [...terms.filter(isBrief), ...terms.filter((term) => !isBrief(term))].map((term) =>
    compileIn(term, context),
  )
  return function* (seen) {
    for (const each of compiled) {
      if (context.shouldYield()) yield
      const holds = 'holds' in each ? each.holds(seen) : yield* each.answer(seen)
      if (holds === decides) return decides
    }
    return !decides
  }
}

function elementsYielding(query: Query<FieldRef> & { kind: 'elemMatch' }, context: YieldingContext): Answer {
  const { up, steps } = query.array
  const inner = compileIn(query.query, context)
  return function* (seen) {
    for (const element of elementsAt(climb(seen, up), steps)) {
      if (context.shouldYield()) yield
      if ('holds' in inner ? inner.holds(element) : yield* inner.answer(element)) return true
    }
    return false
  }
}

/** The elements of every array at the path, with the scopes that the path opens. */
function* elementsAt(seen: Seen, steps: readonly Step[]): Generator<Seen> {
  const star = steps.indexOf('*')
  const array = (star === -1 ? steps : steps.slice(0, star)).reduce(stepInto, seen.value)
  if (!isArray(array)) return
  for (const value of array) {
    const element = { value, outer: seen }
    if (star === -1) yield element
    else yield* elementsAt(element, steps.slice(star + 1))
  }
}

function relatedYielding(related: Related<FieldRef>, context: YieldingContext): Answer {
  const { reference, join, query, count } = related
  const places = compileTargets(allOf([join, query]), context.world(related), context)
  const isCount = count && compileCount(count)
  return function* (seen) {
    for (const outer of holdersAt(climb(seen, reference.up).value, reference.steps, seen)) {
      let found = 0
      for (const place of places(outer)) {
        if (place === undefined) yield
        else if (!isCount) return true
        else found++
      }
      if (isCount?.(found)) return true
    }
    return false
  }
}

/** The outer scopes of joined documents: one for each object that contains the reference. */
export function* holdersAt(
  value: Json | undefined,
  [step, ...rest]: readonly Step[],
  seen: Seen,
): Generator<Seen> {
  if (rest.length === 0) {
    if (isObject(value)) yield seen
  } else if (step === '*') {
    for (const each of isArray(value) ? value : []) yield* holdersAt(each, rest, { value: each, outer: seen })
  } else yield* holdersAt(stepInto(value, step!), rest, seen)
}

/** Many values on both sides take quadratic time, so each pair is compared separately, with a yield in between. */
function pairsYielding(query: FieldPair<FieldRef>, { shouldYield }: YieldingContext): Answer {
  const isNegated = query.kind === 'inField' ? query.negated : isNegative(query.op)
  const holds = compilePair(query)
  return function* (seen) {
    const others = rightSides(seen, query)
    for (const value of candidates(seen, query.field)) {
      for (const other of others) {
        if (shouldYield()) yield
        if (holds({ value, outer: { value: other } })) return !isNegated
      }
    }
    return isNegated
  }
}

/** Whether the condition, without its negation, holds for a value and the one in its outer scope. */
function compilePair(query: FieldPair<FieldRef>): Predicate {
  const sides = {
    field: { ...query.field, up: 0, steps: [] },
    rfield: { ...query.rfield, up: 1, steps: [] },
  }
  if (query.kind === 'inField') return compileQuery({ ...query, ...sides, negated: false })
  const op = isNegative(query.op) ? NEGATED_OP[query.op] : query.op
  return compileQuery({ ...query, ...sides, op })
}

/** For `$in`, each element as an array of its own, so that elements are compared one at a time. */
function rightSides(seen: Seen, { kind, rfield }: FieldPair<FieldRef>): readonly (Json | undefined)[] {
  const found = candidates(seen, rfield)
  if (kind !== 'inField') return found
  return found.flatMap((array) => (isArray(array) ? array.map((each) => [each]) : []))
}

function stepInto(value: Json | undefined, step: Step): Json | undefined {
  if (typeof step === 'string') return member(value, step)
  return isArray(value) ? value.at(step) : undefined
}
