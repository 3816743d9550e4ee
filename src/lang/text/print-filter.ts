/** Prints a query as a filter. Reading the filter gives the query back, except that a `$and` or `$or` of one is that one. */
import { ServiceError, unreachable } from '../../base/errors.ts'
import { type Json, isNumber, numberText } from '../../base/json/json.ts'
import { type PatternFlags, withoutComments } from '../../base/pattern.ts'
import { isNow } from '../../schema/request-time.ts'
import { literalOf, literalsOf } from '../operand.ts'
import type { CompareOp } from '../operators.ts'
import type { Query } from '../query.ts'
import { printIndexName, printPath } from './words.ts'

type Pathed = { readonly path: string }

export function printFilter<F extends Pathed>(query: Query<F>): string {
  switch (query.kind) {
    case 'compare':
      return `${printPath(query.field.path)} ${OPERATOR[query.op]} ${printValue(literalOf(query.value))}`
    case 'compareFields':
      return `${printPath(query.field.path)} ${OPERATOR[query.op]} ${printOther(query.rfield)}`
    case 'in':
      return `${printPath(query.field.path)} ${printIn(query.negated)} ${printValues(literalsOf(query.values))}`
    case 'inField':
      return `${printPath(query.field.path)} ${printIn(query.negated)} ${printOther(query.rfield)}`
    case 'regex':
      return `${printPath(query.field.path)} ~ ${printPattern(query.pattern, query.flags)}`
    case 'contains':
      return `${printPath(query.array.path)} contains ${query.op.slice(1)} ${printValues(query.values)}`
    case 'text':
      return `text(${JSON.stringify(query.text)}${query.index === undefined ? '' : `, ${printIndexName(query.index)}`})`
    case 'elemMatch':
      return `any ${printPath(query.array.path)} (${printFilter(query.query)})`
    case 'related':
      return `any ${printPath(query.reference.path)} (${printFilter(query.query)})`
    case 'and':
    case 'or':
      return printTerms(query.kind, query.terms)
    case 'not':
      return `not ${printInner(query.term, ['and', 'or'])}`
    default:
      return unreachable(query)
  }
}

const OPERATOR: Readonly<Record<CompareOp, string>> = {
  $eq: '=',
  $neq: '!=',
  $lt: '<',
  $gt: '>',
  $lte: '<=',
  $gte: '>=',
}

function printTerms<F extends Pathed>(kind: 'and' | 'or', terms: readonly Query<F>[]): string {
  if (terms.length === 0) return kind === 'and' ? 'true' : 'false'
  if (terms.length === 1) return printFilter(terms[0]!)
  // `and` binds more tightly, so only an inner `or` needs parentheses in it; an equal one keeps its place by them.
  const inParentheses = kind === 'and' ? (['and', 'or'] as const) : (['or'] as const)
  return terms.map((term) => printInner(term, inParentheses)).join(` ${kind} `)
}

function printInner<F extends Pathed>(query: Query<F>, inParentheses: readonly Query<F>['kind'][]): string {
  if (isJoined(query) && query.terms.length === 1) return printInner(query.terms[0]!, inParentheses)
  const text = printFilter(query)
  return isJoined(query) && query.terms.length > 1 && inParentheses.includes(query.kind) ? `(${text})` : text
}

function isJoined<F>(query: Query<F>): query is Query<F> & { kind: 'and' | 'or' } {
  return query.kind === 'and' || query.kind === 'or'
}

function printIn(isNegated: boolean): string {
  return isNegated ? 'not in' : 'in'
}

function printOther({ path }: Pathed): string {
  return `$${printPath(path)}`
}

function printValues(values: readonly Json[]): string {
  return `(${values.map(printValue).join(', ')})`
}

function printValue(value: Json): string {
  if (isNow(value)) return 'now()'
  if (isNumber(value)) return numberText(value)
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const message = 'an object or an array is no value to compare with'
  throw new ServiceError('query-api:InvalidQuery', message)
}

const FLAG_LETTERS: Readonly<Record<keyof PatternFlags, string>> = {
  caseInsensitive: 'i',
  multiline: 'm',
  extended: 'x',
  dotall: 's',
}

function printPattern(pattern: string, flags: PatternFlags): string {
  const letters = (Object.keys(FLAG_LETTERS) as (keyof PatternFlags)[])
    .filter((flag) => flags[flag])
    .map((flag) => FLAG_LETTERS[flag])
  // A `\Q` in a comment would not begin a quoted part.
  const mayMislead = flags.extended && pattern.includes('\\Q')
  return `/${escapeSlashes(mayMislead ? withoutComments(pattern) : pattern)}/${letters.join('')}`
}

/**
 * Writes each slash as `\/`. A slash that the pattern escapes itself needs nothing more, and means the same. Between
 * `\Q` and `\E` a backslash is a character, so a slash after one is moved out: `\Qa\/\E` becomes `\Qa\E\\\/\Q\E`.
 */
function escapeSlashes(pattern: string): string {
  return pattern.replaceAll(PIECE, (piece, quoted: string | undefined, end: string | undefined) =>
    quoted === undefined
      ? piece === '/'
        ? '\\/'
        : piece
      : `\\Q${quoted.replaceAll(SLASHES, slashOf)}${end}`,
  )
}

/** A quoted part with its content and its end, or an escape, or a slash. */
const PIECE = /\\Q([^]*?)(\\E|$)|\\[^]|\//g
const SLASHES = /(\\*)\//g

function slashOf(_: string, backslashes: string): string {
  return backslashes.length % 2 === 0 ? `${backslashes}\\/` : `${backslashes.slice(1)}\\E\\\\\\/\\Q`
}
