/** Right-hand sides of comparisons: literals, or arguments of a prepared find. */
import type { Json } from '../../base/json/json.ts'
import {
  type ListOperand,
  MAX_PARAMETER_CHARACTERS,
  type Operand,
  type Parameter,
  isParameter,
} from '../../lang/operand.ts'
import { type Fragment, type SqlValue, argument, param } from './fragment.ts'

/** One or more values, none of them null. */
export interface Comparands {
  readonly hasOne: boolean
  readonly areTexts: () => boolean
  /** An upper bound for the length of every text. */
  readonly maxCharacters: () => number
  /** All values encoded as one SQL value. */
  readonly encoded: (encode: (values: readonly Json[]) => SqlValue) => Fragment
}

export function operandParam(operand: Operand, encode: (value: Json) => SqlValue): Fragment {
  return isParameter(operand) ? argument(operand.param, encode) : param(encode(operand))
}

/** Undefined for null, which matches no comparison. */
export function comparand(operand: Operand): Comparands | undefined {
  if (operand === null) return undefined
  if (!isParameter(operand)) return literals([operand])
  return {
    ...typed(operand),
    hasOne: true,
    encoded: (encode) => argument(operand.param, (value) => encode([value])),
  }
}

/** Undefined for an empty list, and for a list with null. */
export function comparands(operand: ListOperand): Comparands | undefined {
  if (!isParameter(operand)) {
    return operand.length === 0 || operand.includes(null) ? undefined : literals(operand)
  }
  const { param: place, hasOne } = operand
  return {
    ...typed(operand),
    hasOne,
    encoded: (encode) => argument(place, (values) => encode(values as readonly Json[])),
  }
}

export function literals(values: readonly Json[]): Comparands {
  return {
    hasOne: values.length === 1,
    areTexts: () => values.every((value) => typeof value === 'string'),
    maxCharacters: () => values.reduce<number>((most, value) => Math.max(most, charactersOf(value)), 0),
    encoded: (encode) => param(encode(values)),
  }
}

function charactersOf(value: Json): number {
  return typeof value === 'string' ? Array.from(value).length : 0
}

/** Properties that the type guarantees for every argument. */
function typed({ type }: Parameter): Pick<Comparands, 'areTexts' | 'maxCharacters'> {
  const family = type?.family
  return {
    areTexts: () => family === 'text' || family === 'date',
    maxCharacters: () => MAX_PARAMETER_CHARACTERS,
  }
}
