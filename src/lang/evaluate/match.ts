/** Compiles queries to closures. Paths, operators and patterns are prepared once; matching only reads documents. */
import { unreachable } from '../../base/errors.ts'
import { type Json, isArray, isObject, member } from '../../base/json/json.ts'
import type { Step } from '../../base/path.ts'
import { compilePattern } from '../../base/pattern.ts'
import { spend } from '../../base/work/work.ts'
import { documentWords } from '../../schema/document-words.ts'
import { asCompared } from '../../schema/kind.ts'
import { compareValues } from '../../schema/types.ts'
import { literalOf, literalsOf } from '../operand.ts'
import { NEGATED_OP, HOLDS, HOLDS_FOR_NULLS, isNegative } from '../operators.ts'
import type { Count, Query, Related, TextSearch } from '../query.ts'
import type { FieldRef } from '../resolve/scope.ts'
import { pieceOf } from '../text-search.ts'

/** A value and its outer scopes; `outer` is one scope out. */
export interface Seen {
  readonly value: Json | undefined
  readonly outer?: Seen
}
type Predicate = (seen: Seen) => boolean
type Test = (value: Json | undefined) => boolean

/** The documents that a reference may join: a superset of those that it does join. */
export type World = (related: Related<FieldRef>) => readonly Json[]

/** Queries that follow references need a `world`. */
export function compileQuery(query: Query<FieldRef>, world: World = nowhere): Predicate {
  switch (query.kind) {
    case 'compare':
      return compileCompare(query)
    case 'in':
      return negatedIf(query.negated, some(query.field, isIn(literalsOf(query.values))))
    case 'regex': {
      const pattern = compilePattern(query.pattern, query.flags)!
      return some(query.field, (value) => typeof value === 'string' && pattern.occursIn(value))
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

/** Whether the test holds for some object that contains the reference. Without such an object nothing is joined. */
function someHolder(
  value: Json | undefined,
  [step, ...rest]: readonly Step[],
  { seen, test }: { readonly seen: Seen; readonly test: Predicate },
): boolean {
  if (rest.length === 0) return isObject(value) && test(seen)
  if (step === '*') {
    return someOf(elements(value), (each) =>
      someHolder(each, rest, { seen: { value: each, outer: seen }, test }),
    )
  }
  const next = typeof step === 'number' ? (isArray(value) ? value.at(step) : undefined) : member(value, step!)
  return someHolder(next, rest, { seen, test })
}

export const nowhere: World = () => {
  throw new Error('a query that leads to other documents was asked where there are none')
}

/** Every value of a field, in document order; undefined stands for a missing value. */
export function candidates(seen: Seen, { up, steps }: FieldRef): readonly (Json | undefined)[] {
  const found: (Json | undefined)[] = []
  someStep(climb(seen, up).value, steps, 0, (value) => {
    found.push(value)
    return false
  })
  return found
}

/** The same in comparable form: a value that does not fit the kind of the field counts as missing. */
export function comparables(seen: Seen, ref: FieldRef): readonly (Json | undefined)[] {
  return candidates(seen, ref).map(asCompared(ref.field))
}

function compileCompare({ field, op, value: operand }: Query<FieldRef> & { kind: 'compare' }): Predicate {
  const value = literalOf(operand)
  if (value === null)
    return negatedIf(
      isNegative(op),
      some(field, (each) => each === undefined || each === null),
    )
  if (isNegative(op))
    return negatedIf(true, compileCompare({ kind: 'compare', field, op: NEGATED_OP[op], value }))
  const holds = HOLDS[op]
  return some(field, (each) => isValue(each) && holds(compareValues(each, value)))
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
  const holds = HOLDS[op]
  const values = (a: Json | undefined, b: Json | undefined): boolean => {
    if (isValue(a) && isValue(b)) return holds(compareValues(a, b))
    return HOLDS_FOR_NULLS[op] && !isValue(a) && !isValue(b)
  }
  const pairwise = (a: readonly Json[], b: readonly Json[]): boolean => {
    if (a.length !== b.length) return false
    spend(a.length)
    return a.length > 0 ? a.every((each, i) => values(each, b[i])) : holds(0)
  }
  const [leftIsArray, rightIsArray] = [field.field.kind === 'array', rfield.field.kind === 'array']
  const [left, right] = [comparing(field), comparing(rfield)]
  const pair = (a: Json | undefined, b: Json | undefined): boolean => {
    if (leftIsArray && rightIsArray) return pairwise(elements(a), elements(b))
    if (leftIsArray) return everyElement(a, (each) => values(each, b))
    if (rightIsArray) return everyElement(b, (each) => values(a, each))
    return values(a, b)
  }
  if (isSingle(field) && isSingle(rfield)) {
    const [a, b] = [single(field), single(rfield)]
    return (seen) => values(a(seen), b(seen))
  }
  return (seen) => {
    const rights = right(seen)
    return left(seen).some((a) => {
      spend(rights.length)
      return rights.some((b) => pair(a, b))
    })
  }
}

function compileInField({ field, negated, rfield }: Query<FieldRef> & { kind: 'inField' }): Predicate {
  const equal = (a: Json | undefined, b: Json): boolean =>
    isValue(a) ? isValue(b) && compareValues(a, b) === 0 : !isValue(b)
  const [left, right] = [comparing(field), comparing(rfield)]
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
  return some(array, (found) => someOf(inside(found), isListed))
}

function compileContainsAll({ array, values }: Query<FieldRef> & { kind: 'contains' }): Predicate {
  const inside = elementsCompared(array)
  const tests = values.map((value) => isIn([value]))
  return some(array, (found) => {
    const compared = inside(found)
    return tests.every((test) => someOf(compared, test))
  })
}

/** Whether the field has exactly one candidate in every document. */
function isSingle({ steps, field }: FieldRef): boolean {
  return field.kind !== 'array' && !steps.includes('*')
}

/** The only candidate, without allocating a list. */
function single({ up, steps, field }: FieldRef): (seen: Seen) => Json | undefined {
  const compared = asCompared(field)
  return (seen) => {
    let value = climb(seen, up).value
    for (const step of steps) {
      value =
        typeof step === 'number' ? (isArray(value) ? value.at(step) : undefined) : memberOrSize(value, step)
    }
    return compared(value)
  }
}

/** The candidates of a field in comparable form; the elements of arrays too. */
function comparing(ref: FieldRef): (seen: Seen) => readonly (Json | undefined)[] {
  if (ref.field.kind !== 'array') return (seen) => comparables(seen, ref)
  const inside = elementsCompared(ref)
  return (seen) => candidates(seen, ref).map((each) => (isArray(each) ? inside(each) : undefined))
}

function elementsCompared({ field }: FieldRef): (array: Json | undefined) => readonly Json[] {
  const compared = field.kind === 'array' ? asCompared(field.element) : undefined
  return (array) => {
    spend(elements(array).length)
    return elements(array).map((each) => compared?.(each) ?? null)
  }
}

function some({ up, steps, field }: FieldRef, testCompared: Test): Predicate {
  const [only] = steps
  const compared = asCompared(field)
  const test: Test = (value) => testCompared(compared(value))
  // Fast path for the common case, a member of the document itself.
  if (up === 0 && steps.length === 1 && typeof only === 'string' && only !== '*') {
    return (seen) => test(memberOrSize(seen.value, only))
  }
  return (seen) => someStep(climb(seen, up).value, steps, 0, test)
}

/** A missing value has only missing members. An absent array has one missing element, an empty array none. */
function someStep(value: Json | undefined, steps: readonly Step[], at: number, test: Test): boolean {
  const step = steps[at]
  if (step === undefined) return test(value)
  if (step === '*') {
    if (!isArray(value)) return someStep(undefined, steps, at + 1, test)
    return someOf(value, (each) => someStep(each, steps, at + 1, test))
  }
  const next =
    typeof step === 'number' ? (isArray(value) ? value.at(step) : undefined) : memberOrSize(value, step)
  return someStep(next, steps, at + 1, test)
}

/** The size of an array is counted, because an update may have changed the array since the size was stored. */
function memberOrSize(value: Json | undefined, name: string): Json | undefined {
  const array = name.endsWith('#') ? member(value, name.slice(0, -1)) : undefined
  return isArray(array) ? array.length : member(value, name)
}

/** Some element of some array at the path. Every `*` opens a scope that `$parent` can reach. */
function someElement(seen: Seen, steps: readonly Step[], test: Predicate): boolean {
  const star = steps.indexOf('*')
  const steady = star === -1 ? steps : steps.slice(0, star)
  let array = seen.value
  for (const step of steady) {
    array = typeof step === 'number' ? (isArray(array) ? array.at(step) : undefined) : member(array, step)
  }
  if (!isArray(array)) return false
  if (star === -1) return someOf(array, (value) => test({ value, outer: seen }))
  return someOf(array, (value) => someElement({ value, outer: seen }, steps.slice(star + 1), test))
}

export function climb(seen: Seen, up: number): Seen {
  let outer = seen
  for (let i = 0; i < up; i++) outer = outer.outer!
  return outer
}

function negatedIf(negated: boolean, predicate: Predicate): Predicate {
  return negated ? (seen) => !predicate(seen) : predicate
}

function isValue(value: Json | undefined): value is Exclude<Json, null> {
  return value !== undefined && value !== null
}

function elements(value: Json | undefined): readonly Json[] {
  return isArray(value) ? value : []
}

function someOf(values: readonly Json[], test: (value: Json) => boolean): boolean {
  spend(values.length)
  return values.some(test)
}

/** False for a value that is not an array, and for an empty array. */
function everyElement(value: Json | undefined, test: (element: Json) => boolean): boolean {
  const list = elements(value)
  spend(list.length)
  return list.length > 0 && list.every(test)
}
