/** The filter of a table: text in the filter language, or a query as JSON. */
import { type Json, isArray, isObject, numberIn, parseJson, printJson } from '../../client/json.ts'
import type { Find } from '../../client/types.ts'
import type { Column } from '../../schema/columns.ts'
import { filterPath } from './filter-suggestions.ts'

export const OPERATORS = ['=', '!=', '<', '<=', '>', '>=', 'matches'] as const
export type Operator = (typeof OPERATORS)[number]

export interface Condition {
  readonly column: Column
  readonly operator: Operator
  /** As it was typed; empty for null. */
  readonly value: string
}

/** The part of a find that a filter makes; throws where JSON is begun and not finished. */
export function filterRequest(text: string | undefined): Pick<Find, 'query' | 'filter'> {
  const trimmed = text?.trim() ?? ''
  if (trimmed === '') return {}
  return trimmed.startsWith('{') ? { query: parseJson(trimmed) } : { filter: trimmed }
}

/** What is wrong with it, as far as the page can tell. */
export function filterProblem(text: string): string | undefined {
  try {
    filterRequest(text)
    return undefined
  } catch (error) {
    return `not valid JSON: ${(error as Error).message}`
  }
}

/** Adds a condition to a filter, in the language of the filter. */
export function withCondition(text: string, condition: Condition): string {
  const { query, filter } = filterRequest(text)
  if (filter !== undefined) return `(${filter}) and ${conditionText(condition)}`
  if (query === undefined) return conditionText(condition)
  const and = isObject(query) ? query['$and'] : undefined
  return printJson({ $and: [...(isArray(and) ? and : [query]), conditionQuery(condition)] })
}

function conditionQuery({ column, operator, value }: Condition): Json {
  const field = `${column.path}${column.field.type === 'array' ? '.*' : ''}`
  if (operator === 'matches') return { field, regex: value }
  return { field, op: operator, rvalue: typedValue(column, value) }
}

function conditionText({ column, operator, value }: Condition): string {
  const path = filterPath(column)
  if (operator === 'matches') return `${path} ~ /${withEscapedSlashes(value)}/`
  return `${path} ${operator} ${printJson(typedValue(column, value))}`
}

/** A slash that the pattern escapes by itself needs nothing more. */
function withEscapedSlashes(pattern: string): string {
  return pattern.replaceAll(/\\.|\//g, (piece) => (piece === '/' ? String.raw`\/` : piece))
}

const NUMERIC = ['integer', 'double', 'biginteger', 'bigdecimal']

function typedValue({ field }: Column, value: string): Json {
  if (value === '') return null
  const type = field.type === 'array' ? (field.items?.type ?? '') : field.type
  if (type === 'boolean') return value === 'true' || (value === 'false' ? false : value)
  return NUMERIC.includes(type) ? (numberIn(value) ?? value) : value
}
