/**
 * The right side of a comparison: a literal, or a parameter that stands for the literals of all requests of one shape.
 * Interpreters that need a value call `literalOf`. Queries are bound before they are evaluated in memory.
 */
import type { Json } from '../base/json/json.ts'
import type { ValueType } from '../schema/types.ts'

/** A symbol, because JSON has none: no object in a request can be mistaken for a parameter. */
const KIND: unique symbol = Symbol('parameter')

interface Numbered {
  /** Its index in the arguments. */
  readonly param: number
  /** The type to which arguments are cast; set when the field is resolved. */
  readonly type?: ValueType
}

/** Stands for one value. Never null, because null changes plan and SQL. */
interface ValueParameter extends Numbered {
  readonly [KIND]: 'value'
}

/** Stands for a list without nulls. A list of one is another shape, because SQL compares with it directly. */
interface ListParameter extends Numbered {
  readonly [KIND]: 'list'
  readonly hasOne: boolean
}

export type Parameter = ValueParameter | ListParameter
export type Operand = Json | ValueParameter
export type ListOperand = readonly Json[] | ListParameter

/** The values of parameters, by `param`: a cast value, or a list of cast values. */
export type Arguments = readonly Json[]

/**
 * The longest text or number that becomes a parameter. Indexes on text prefixes are longer, so they contain every such
 * text completely, and the SQL need not depend on its length.
 */
export const MAX_PARAMETER_CHARACTERS = 64

export function valueParameter(param: number): ValueParameter {
  return { [KIND]: 'value', param }
}

export function listParameter(param: number, hasOne: boolean): ListParameter {
  return { [KIND]: 'list', param, hasOne }
}

export function isParameter(operand: Operand): operand is ValueParameter
export function isParameter(operand: ListOperand): operand is ListParameter
export function isParameter(operand: Operand | ListOperand): boolean {
  return typeof operand === 'object' && operand !== null && KIND in operand
}

export function literalOf(operand: Operand): Json {
  if (isParameter(operand)) throw unbound(operand)
  return operand
}

export function literalsOf(operand: ListOperand): readonly Json[] {
  if (isParameter(operand)) throw unbound(operand)
  return operand
}

export function boundValue(operand: Operand, values: Arguments): Json {
  return isParameter(operand) ? argumentFor(operand, values) : operand
}

export function boundList(operand: ListOperand, values: Arguments): readonly Json[] {
  return isParameter(operand) ? (argumentFor(operand, values) as readonly Json[]) : operand
}

export function argumentFor(parameter: Pick<Parameter, 'param'>, values: Arguments): Json {
  const value = values[parameter.param]
  if (value === undefined) throw unbound(parameter)
  return value
}

function unbound({ param }: Pick<Parameter, 'param'>): Error {
  return new Error(`parameter ${param} has no value`)
}
