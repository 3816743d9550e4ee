/** Replaces the literals of a query by parameters, and binds parameters to literals, for prepared finds. */
import { type Json, isArray, isNumber, numberText } from '../base/json/json.ts'
import {
  type Arguments,
  type ListOperand,
  MAX_PARAMETER_CHARACTERS,
  type Operand,
  type Parameter,
  boundList,
  boundValue,
  isParameter,
  listParameter,
  valueParameter,
} from './operand.ts'
import { type Query, mapQuery } from './query.ts'

/**
 * Whether a parameter may stand for the value. Plan and SQL must be the same for all such values; null, for example,
 * needs other SQL.
 */
export function isLiteral(value: Json | undefined): value is Json {
  if (typeof value === 'string') return value.length <= MAX_PARAMETER_CHARACTERS
  if (typeof value === 'boolean') return true
  return isNumber(value) && numberText(value).length <= MAX_PARAMETER_CHARACTERS
}

export function isLiteralList(values: Json | undefined): values is readonly Json[] {
  return isArray(values) && values.length > 0 && values.every(isLiteral)
}

/** The query with its literals replaced by parameters, numbered in the order in which the literals are written. */
export function parameterized<F>(query: Query<F>): {
  readonly query: Query<F>
  readonly literals: readonly Json[]
} {
  const literals: Json[] = []
  const changed = mapOperands(query, {
    value: (operand) =>
      !isParameter(operand) && isLiteral(operand) ? valueParameter(literals.push(operand) - 1) : operand,
    list: (operand) =>
      !isParameter(operand) && isLiteralList(operand)
        ? listParameter(literals.push(operand) - 1, operand.length === 1)
        : operand,
  })
  return { query: changed, literals }
}

/** Every parameter in the query, with repetitions. */
export function parametersIn<F>(query: Query<F>): readonly Parameter[] {
  const found: Parameter[] = []
  mapOperands(query, {
    value(operand) {
      if (isParameter(operand)) found.push(operand)
      return operand
    },
    list(operand) {
      if (isParameter(operand)) found.push(operand)
      return operand
    },
  })
  return found
}

export function bindQuery<F>(query: Query<F>, values: Arguments): Query<F> {
  return mapOperands(query, {
    value: (operand) => boundValue(operand, values),
    list: (operand) => boundList(operand, values),
  })
}

interface Change {
  readonly value: (operand: Operand) => Operand
  readonly list: (operand: ListOperand) => ListOperand
}

/** The literals of other nodes are part of the shape and never become parameters. */
function mapOperands<F>(query: Query<F>, change: Change): Query<F> {
  return mapQuery(query, (node) => {
    if (node.kind === 'compare') return { ...node, value: change.value(node.value) }
    if (node.kind === 'in') return { ...node, values: change.list(node.values) }
    if (node.kind !== 'related' || !node.count || node.count.op === '$in') return node
    return { ...node, count: { ...node.count, value: change.value(node.count.value) } }
  })
}
