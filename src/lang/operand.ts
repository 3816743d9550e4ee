/**
 * The right side of a comparison: a literal, or a parameter that stands for the literals of all requests of one shape.
 * Interpreters that need a value call `literalOf`; whatever is evaluated in memory is bound before.
 */
import type { Json } from '../base/json/json.ts'
import type { ValueType } from '../schema/types.ts'

/** JSON has no symbols, so that no object of a request can pass for a parameter. */
const KIND: unique symbol = Symbol('parameter')

interface Numbered {
  /** Its place among the arguments. */
  readonly param: number
  /** How arguments are cast; known once the field is resolved. */
  readonly type?: ValueType
}

/** Stands for one value, which is not null. */
export interface ValueParameter extends Numbered {
  readonly [KIND]: 'value'
}

/** Stands for a list without nulls. A list of one is another shape, because SQL compares with it directly. */
export interface ListParameter extends Numbered {
  readonly [KIND]: 'list'
  readonly hasOne: boolean
}

export type Parameter = ValueParameter | ListParameter
export type Operand = Json | ValueParameter
export type ListOperand = readonly Json[] | ListParameter

/** What takes the place of parameters, by their number: a cast value, or a list of these. */
export type Arguments = readonly Json[]

/** No text that a parameter stands for is longer, so that an index of longer beginnings of texts holds all of it. */
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
