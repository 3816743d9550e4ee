/** Compiles queries to closures. Paths, operators and patterns are prepared once; matching only reads documents. */
import { unreachable } from '../../base/errors.ts'
import type { Json } from '../../base/json/json.ts'
import { compilePattern } from '../../base/pattern.ts'
import { spend } from '../../base/work/work.ts'
import { documentWords } from '../../schema/document-words.ts'
import { compareValues } from '../../schema/types.ts'
import { literalOf, literalsOf } from '../operand.ts'
import { HOLDS, HOLDS_FOR_NULLS, NEGATED_OP, type PositiveOp, isNegative } from '../operators.ts'
import type { Count, Query, Related, TextSearch } from '../query.ts'
import type { FieldRef } from '../resolve/scope.ts'
import { pieceOf } from '../text-search.ts'
import {
  type Predicate,
  type Seen,
  type Test,
  climb,
  comparableCandidates,
  elements,
  elementsCompared,
  everyElement,
  hasOneCandidate,
  isValue,
  onlyCandidate,
  someCandidate,
  someElement,
  someHolder,
  someOf,
} from './candidates.ts'

/** The documents that a reference may join: a superset of those that it does join. */
export type World = (related: Related<FieldRef>) => readonly Json[]

/** Queries that follow references need a `world`. */
export function compileQuery(query: Query<FieldRef>, world: World = nowhere): Predicate {
  switch (query.kind) {
    case 'compare':
      return compileCompare(query)
    case 'in':
      return negatedIf(query.negated, someCandidate(query.field, isIn(literalsOf(query.values))))
    case 'regex': {
      const pattern = compilePattern(query.pattern, query.flags)!
      return someCandidate(query.field, (value) => typeof value === 'string' && pattern.occursIn(value))
    }
    case 'compareFields':
      return compileCompareFields(query)
    case 'inField':
      return compileInField(query)
    case 'contains':
      return compileContains(query)
    case 'text':
      return compileText(query)
    case 'elemMatch': {
      const inner = compileQuery(query.query, world)
      return (seen) => someElement(climb(seen, query.array.up), query.array.steps, inner)
    }
    case 'related':
      return compileRelated(query, world)
    case 'and': {
      const terms = query.terms.map((term) => compileQuery(term, world))
      return (seen) => {
        spend(terms.length)
        return terms.every((term) => term(seen))
      }
    }
    case 'or': {
      const terms = query.terms.map((term) => compileQuery(term, world))
      return (seen) => {
        spend(terms.length)
        return terms.some((term) => term(seen))
      }
    }
    case 'not': {
      const term = compileQuery(query.term, world)
      return (seen) => !term(seen)
    }
    default:
      return unreachable(query)
  }
}

function compileText({ fields, language, terms }: TextSearch<FieldRef>): Predicate {
  const source = { fields: fields.map(({ steps }) => steps), language }
  const pieces = terms.map((term) => ({ piece: pieceOf(term), isWanted: !term.isExcluded }))
  // All fields belong to one document.
  const up = fields[0]!.up
  return (seen) => {
    const words = documentWords(climb(seen, up).value, source)
    spend((words.length * pieces.length) / CHARACTERS_SEARCHED_PER_STEP)
    return pieces.every(({ piece, isWanted }) => words.includes(piece) === isWanted)
  }
}

const CHARACTERS_SEARCHED_PER_STEP = 64

function compileRelated(related: Related<FieldRef>, world: World): Predicate {
  const { reference, count } = related
  const join = compileQuery(related.join, world)
  const query = compileQuery(related.query, world)
  const documents = world(related)
  const matches = (outer: Seen) => {
    spend(documents.length)
    return (value: Json) => join({ value, outer }) && query({ value, outer })
  }
  const isCount = count && compileCount(count)
  const test: Predicate = isCount
    ? (outer) => isCount(documents.filter(matches(outer)).length)
    : (outer) => documents.some(matches(outer))
  return (seen) => someHolder(climb(seen, reference.up).value, reference.steps, { seen, test })
}

/** Whether a number of documents satisfies the condition. */
export function compileCount(count: Count): (found: number) => boolean {
  if (count.op === '$in') return isIn(count.values)
  const holds = HOLDS[count.op]
  const value = literalOf(count.value)
  return (found) => holds(compareValues(found, value))
}

export const nowhere: World = () => {
  throw new Error('a query that leads to other documents was asked where there are none')
}

function compileCompare({ field, op, value: operand }: Query<FieldRef> & { kind: 'compare' }): Predicate {
  const value = literalOf(operand)
  if (value === null)
    return negatedIf(
      isNegative(op),
      someCandidate(field, (each) => each === undefined || each === null),
    )
  if (isNegative(op))
    return negatedIf(true, compileCompare({ kind: 'compare', field, op: NEGATED_OP[op], value }))
  const holds = HOLDS[op]
  return someCandidate(field, (each) => isValue(each) && holds(compareValues(each, value)))
}

function isIn(values: readonly Json[]): Test {
  const hasNull = values.includes(null)
  const others = values.filter((value) => value !== null)
  // Lists may be long, so texts and plain numbers are looked up in a set instead of scanning the list.
  const plain = new Set(others.filter((value) => typeof value === 'string' || typeof value === 'number'))
  const rest = others.filter((value) => typeof value !== 'string' && typeof value !== 'number')
  return (each) => {
    if (!isValue(each)) return hasNull
    if (typeof each === 'string') return plain.has(each)
    if (typeof each === 'number' && plain.has(each)) return true
    const compared = typeof each === 'number' ? rest : others
    spend(compared.length)
    return compared.some((value) => compareValues(each, value) === 0)
  }
}

function compileCompareFields(query: Query<FieldRef> & { kind: 'compareFields' }): Predicate {
  const { field, op, rfield } = query
  if (isNegative(op)) return negatedIf(true, compileCompareFields({ ...query, op: NEGATED_OP[op] }))
  if (hasOneCandidate(field) && hasOneCandidate(rfield)) {
    const holds = compareOne(op)
    const [a, b] = [onlyCandidate(field), onlyCandidate(rfield)]
    return (seen) => holds(a(seen), b(seen))
  }
  const holds = comparePair(query, op)
  const [left, right] = [comparableCandidates(field), comparableCandidates(rfield)]
  return (seen) => {
    const rights = right(seen)
    return left(seen).some((a) => {
      spend(rights.length)
      return rights.some((b) => holds(a, b))
    })
  }
}

type PairTest = (a: Json | undefined, b: Json | undefined) => boolean

/** Two simple values. */
function compareOne(op: PositiveOp): PairTest {
  const holds = HOLDS[op]
  return (a, b) => {
    if (isValue(a) && isValue(b)) return holds(compareValues(a, b))
    return HOLDS_FOR_NULLS[op] && !isValue(a) && !isValue(b)
  }
}

/** Arrays are compared pairwise with each other; a simple value is compared with every element of an array. */
function comparePair(
  { field, rfield }: { readonly field: FieldRef; readonly rfield: FieldRef },
  op: PositiveOp,
): PairTest {
  const one = compareOne(op)
  const [leftIsArray, rightIsArray] = [field.field.kind === 'array', rfield.field.kind === 'array']
  // Two empty arrays are equal.
  const holdsForEmpty = HOLDS[op](0)
  if (leftIsArray && rightIsArray) return (a, b) => everyPair([elements(a), elements(b)], one, holdsForEmpty)
  if (leftIsArray) return (a, b) => everyElement(a, (each) => one(each, b))
  if (rightIsArray) return (a, b) => everyElement(b, (each) => one(a, each))
  return one
}

function everyPair(
  [a, b]: readonly [readonly Json[], readonly Json[]],
  holds: PairTest,
  holdsForEmpty: boolean,
): boolean {
  if (a.length !== b.length) return false
  if (a.length === 0) return holdsForEmpty
  spend(a.length)
  return a.every((each, i) => holds(each, b[i]))
}

function compileInField({ field, negated, rfield }: Query<FieldRef> & { kind: 'inField' }): Predicate {
  const equal = (a: Json | undefined, b: Json): boolean =>
    isValue(a) ? isValue(b) && compareValues(a, b) === 0 : !isValue(b)
  const [left, right] = [comparableCandidates(field), comparableCandidates(rfield)]
  return negatedIf(negated, (seen) => {
    const arrays = right(seen)
    return left(seen).some((a) => arrays.some((array) => someOf(elements(array), (b) => equal(a, b))))
  })
}

function compileContains(query: Query<FieldRef> & { kind: 'contains' }): Predicate {
  const { op, values } = query
  switch (op) {
    case '$any':
      return compileContainsAny(query, isIn(values))
    case '$none':
      return negatedIf(true, compileContainsAny(query, isIn(values)))
    case '$all':
      return compileContainsAll(query)
    default:
      return unreachable(op)
  }
}

function compileContainsAny({ array }: { readonly array: FieldRef }, isListed: Test): Predicate {
  const inside = elementsCompared(array)
  return someCandidate(array, (found) => someOf(inside(found), isListed))
}

function compileContainsAll({ array, values }: Query<FieldRef> & { kind: 'contains' }): Predicate {
  const inside = elementsCompared(array)
  const tests = values.map((value) => isIn([value]))
  return someCandidate(array, (found) => {
    const compared = inside(found)
    return tests.every((test) => someOf(compared, test))
  })
}

function negatedIf(negated: boolean, predicate: Predicate): Predicate {
  return negated ? (seen) => !predicate(seen) : predicate
}
