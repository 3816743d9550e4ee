/** Parses JSON into `Query<Named>`. Unknown keys, operators and shapes are refused with a JSON pointer. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isObject, pointer } from '../../base/json/json.ts'
import { NO_FLAGS, type PatternFlags, compilePattern } from '../../base/pattern.ts'
import { patternSize } from '../../base/pattern-size.ts'
import { decoders, refuseWith } from '../../base/json/decode.ts'
import { withRequestTime } from '../../schema/request-time.ts'
import { type Bounds, type Budget, budgetIn, countNode } from '../budget.ts'
import { type CompareOp, type ContainsOp, comparesNull } from '../operators.ts'
import type { Named, Query } from '../query.ts'
import { parseSearch } from '../text-search.ts'

const read = decoders(refuseWith('query-api:InvalidQuery'))

export function parseQuery(value: Json, at: string, bounds: Bounds): Query<Named> {
  return parse(value, at, budgetIn(bounds))
}

const EXAMPLE = '{"field": "city", "op": "=", "rvalue": "Bern"}'

function parse(value: Json, at: string, budget: Budget): Query<Named> {
  countNode(budget, at)
  if (!isObject(value)) throw read.refuse(`a query must be an object, such as ${EXAMPLE}`, at)
  const query = value
  const logical = Object.keys(query).find((key) => Object.hasOwn(LOGICAL, key))
  if (logical !== undefined) return parseLogical(query, logical, at, budget)
  if (Object.hasOwn(query, 'field')) return parseFieldQuery(query, at, budget)
  if (Object.hasOwn(query, 'array')) return parseArrayQuery(query, at, budget)
  if (Object.hasOwn(query, 'text')) return parseText(query, at, budget)
  throw read.refuse(`a query needs "field", "array", "text", "$and", "$or" or "$not", such as ${EXAMPLE}`, at)
}

const LOGICAL: Readonly<Record<string, 'and' | 'or' | 'not'>> = {
  $and: 'and',
  $all: 'and',
  $or: 'or',
  $any: 'or',
  $not: 'not',
}

function parseLogical(query: JsonObject, key: string, at: string, budget: Budget): Query<Named> {
  read.onlyKeys(query, [key], at)
  const kind = LOGICAL[key]!
  const inner = pointer(at, key)
  if (kind === 'not') return { kind, term: parse(query[key]!, inner, budget) }
  const terms = read.array(query[key], inner, `"${key}"`)
  return { kind, terms: terms.map((term, i) => parse(term, pointer(inner, i), budget)) }
}

function parseFieldQuery(query: JsonObject, at: string, budget: Budget): Query<Named> {
  if (Object.hasOwn(query, 'regex')) return parseRegex(query, at, budget)
  const op = read.text(query, 'op', at)
  const compareOp = COMPARE_OPS.get(op)
  if (compareOp !== undefined) return parseCompare(query, compareOp, at, budget)
  if (Object.hasOwn(IN_OPS, op)) return parseIn(query, IN_OPS[op]!, at, budget)
  const known = [...COMPARE_OPS.keys(), ...Object.keys(IN_OPS)].join(', ')
  throw read.refuse(`"${op}" is not an operator; known are ${known}`, pointer(at, 'op'))
}

/** The spellings of each operator in requests. */
const SPELLINGS: Readonly<Record<CompareOp, readonly string[]>> = {
  $eq: ['=', '$eq'],
  $neq: ['!=', '$neq', '$ne'],
  $lt: ['<', '$lt'],
  $gt: ['>', '$gt'],
  $lte: ['<=', '$lte'],
  $gte: ['>=', '$gte'],
}

const COMPARE_OPS: ReadonlyMap<string, CompareOp> = new Map(
  (Object.keys(SPELLINGS) as CompareOp[]).flatMap((op) => SPELLINGS[op].map((spelling) => [spelling, op])),
)

/** Operator → whether it is negated. */
const IN_OPS: Readonly<Record<string, boolean>> = { $in: false, $nin: true, $not_in: true }

export const COMPARE_SPELLINGS: readonly string[] = [...COMPARE_OPS.keys()]
export const LIST_SPELLINGS: readonly string[] = Object.keys(IN_OPS)

function parseCompare(query: JsonObject, op: CompareOp, at: string, budget: Budget): Query<Named> {
  const field = named(query, 'field', at)
  if (Object.hasOwn(query, 'rfield')) {
    read.onlyKeys(query, ['field', 'op', 'rfield'], at)
    return { kind: 'compareFields', field, op, rfield: named(query, 'rfield', at) }
  }
  read.onlyKeys(query, ['field', 'op', 'rvalue', 'rfield'], at)
  if (!Object.hasOwn(query, 'rvalue')) throw read.refuse('a comparison needs "rvalue" or "rfield"', at)
  const value = query['rvalue']!
  if (value === null && !comparesNull(op)) {
    throw read.refuse('nothing is less or greater than null', pointer(at, 'rvalue'))
  }
  return { kind: 'compare', field, op, value: budget.now ? withRequestTime(value, budget.now) : value }
}

function parseIn(query: JsonObject, negated: boolean, at: string, budget: Budget): Query<Named> {
  const field = named(query, 'field', at)
  if (Object.hasOwn(query, 'rfield')) {
    read.onlyKeys(query, ['field', 'op', 'rfield'], at)
    return { kind: 'inField', field, negated, rfield: named(query, 'rfield', at) }
  }
  read.onlyKeys(query, ['field', 'op', 'values', 'rfield'], at)
  return { kind: 'in', field, negated, values: parseValues(query, at, budget) }
}

function parseValues(query: JsonObject, at: string, budget: Budget): readonly Json[] {
  const values = read.array(query['values'], pointer(at, 'values'), '"values"')
  if (values.length > budget.limits.inValues) {
    throw exceeded(`at most ${budget.limits.inValues} values may be listed`, pointer(at, 'values'))
  }
  const { now } = budget
  return now ? values.map((value) => withRequestTime(value, now)) : values
}

const FLAGS = ['caseInsensitive', 'multiline', 'extended', 'dotall'] as const
const OPTION_FLAGS: Readonly<Record<string, (typeof FLAGS)[number]>> = {
  i: 'caseInsensitive',
  m: 'multiline',
  x: 'extended',
  s: 'dotall',
}

function parseRegex(query: JsonObject, at: string, budget: Budget): Query<Named> {
  read.onlyKeys(query, ['field', 'regex', 'options', ...FLAGS], at)
  const pattern = read.text(query, 'regex', at)
  if (pattern.length > budget.limits.patternLength) {
    const message = `a pattern may have at most ${budget.limits.patternLength} characters`
    throw exceeded(message, pointer(at, 'regex'))
  }
  const flags = parseFlags(query, at)
  const { instructions, largestRepetition } = patternSize(pattern)
  if (instructions > budget.limits.patternInstructions) {
    const cause = largestRepetition === undefined ? 'it' : `its repetition ${largestRepetition}`
    const most = budget.limits.patternInstructions
    const message = `${cause} makes the pattern too large: it may have ${most} instructions and has up to ${instructions}`
    throw read.refuse(message, pointer(at, 'regex'))
  }
  if (!compilePattern(pattern, flags)) {
    throw read.refuse(
      'this is not a valid pattern in RE2 syntax; a valid one is "^B.*n$"',
      pointer(at, 'regex'),
    )
  }
  return { kind: 'regex', field: named(query, 'field', at), pattern, flags }
}

function parseFlags(query: JsonObject, at: string): PatternFlags {
  const flags: Record<(typeof FLAGS)[number], boolean> = { ...NO_FLAGS }
  if (Object.hasOwn(query, 'options') && query['options'] !== null) {
    for (const letter of read.text(query, 'options', at)) {
      const flag = Object.hasOwn(OPTION_FLAGS, letter) ? OPTION_FLAGS[letter] : undefined
      if (!flag) throw read.refuse('"options" may hold the letters i, m, x and s', pointer(at, 'options'))
      flags[flag] = true
    }
  }
  for (const flag of FLAGS) flags[flag] = read.flag(query, flag, at) ?? flags[flag]
  return flags
}

function parseArrayQuery(query: JsonObject, at: string, budget: Budget): Query<Named> {
  const array = named(query, 'array', at)
  if (Object.hasOwn(query, 'elemMatch')) {
    read.onlyKeys(query, ['array', 'elemMatch'], at)
    return { kind: 'elemMatch', array, query: parse(query['elemMatch']!, pointer(at, 'elemMatch'), budget) }
  }
  read.onlyKeys(query, ['array', 'contains', 'values', 'elemMatch'], at)
  if (!Object.hasOwn(query, 'contains')) throw read.refuse('"array" needs "contains" or "elemMatch"', at)
  const op = read.text(query, 'contains', at)
  if (!isContainsOp(op)) throw read.refuse('"contains" is $any, $all or $none', pointer(at, 'contains'))
  return { kind: 'contains', array, op, values: parseValues(query, at, budget) }
}

function parseText(query: JsonObject, at: string, { limits }: Budget): Query<Named> {
  read.onlyKeys(query, ['text', 'index'], at)
  const text = read.text(query, 'text', at)
  const place = pointer(at, 'text')
  if (text.length > limits.patternLength) {
    throw exceeded(`a text search may have at most ${limits.patternLength} characters`, place)
  }
  const index = Object.hasOwn(query, 'index') ? { index: read.text(query, 'index', at) } : {}
  return { kind: 'text', text, at: place, terms: parseSearch(text, place), ...index, fields: [], weights: [] }
}

function isContainsOp(op: string): op is ContainsOp {
  return Object.hasOwn(CONTAINS_OPS, op)
}

const CONTAINS_OPS: Readonly<Record<ContainsOp, true>> = { $any: true, $all: true, $none: true }

function named(query: JsonObject, key: string, at: string): Named {
  return { path: read.text(query, key, at), at: pointer(at, key) }
}

function exceeded(message: string, at: string): ServiceError {
  return new ServiceError('crud:LimitExceeded', message, { at })
}
