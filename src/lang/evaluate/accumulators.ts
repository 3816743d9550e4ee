/** The values that an aggregation computes for one group, one row after the other. */
import { unreachable } from '../../base/errors.ts'
import { createDoubleSum } from '../../base/double-sum.ts'
import { createExactExtreme, createExactSum, withoutTrailingZeros } from '../../base/exact-aggregate.ts'
import { type Json, isNumber, numberText } from '../../base/json/json.ts'
import type { SimpleField } from '../../schema/field.ts'
import { compareValues } from '../../schema/types.ts'
import { type FieldAggregate, doubleResult, exactResult, keepsScale } from '../aggregate.ts'
import { keyText } from './join-key.ts'

export interface Accumulator {
  /** Takes the value of a row, never null. */
  readonly add: (value: Json) => void
  /** Null if there was no value. */
  readonly result: () => Json
}

/** `hold` accounts for memory that grows with the values. */
export function accumulator(
  op: FieldAggregate | 'key',
  { type }: SimpleField,
  hold: (bytes: number) => void,
): Accumulator {
  switch (op) {
    case '$distinct':
      return distinct(hold)
    case '$sum':
    case '$avg':
      return type.name === 'double' ? doubleSum(op) : exactSum(op, keepsScale(type.name))
    case '$min':
    case '$max':
    case 'key':
      return type.family === 'number' && type.name !== 'double'
        ? exactExtreme(op === '$max', keepsScale(type.name))
        : extreme(op === '$max')
    default:
      return unreachable(op)
  }
}

/** The approximate size of one entry of a set. */
const ENTRY_BYTES = 64

function distinct(hold: (bytes: number) => void): Accumulator {
  const seen = new Set<string>()
  return {
    add(value) {
      const text = keyText(value)
      if (seen.has(text)) return
      hold(ENTRY_BYTES + text.length)
      seen.add(text)
    },
    result: () => seen.size,
  }
}

function exactSum(op: '$sum' | '$avg', hasScale: boolean): Accumulator {
  const sum = createExactSum()
  return {
    add: (value) => isNumber(value) && sum.add(numberText(value)),
    result() {
      if (sum.count() === 0) return null
      if (op === '$avg') return exactResult(sum.average())
      return exactResult(hasScale ? sum.total() : withoutTrailingZeros(sum.total()))
    },
  }
}

function doubleSum(op: '$sum' | '$avg'): Accumulator {
  const sum = createDoubleSum()
  return {
    add: (value) => isNumber(value) && sum.add(Number(numberText(value))),
    result() {
      if (sum.count() === 0) return null
      // A sum may be infinite; it is refused only if it is part of the page.
      return doubleResult(op === '$avg' ? sum.total() / sum.count() : sum.total())
    },
  }
}

function exactExtreme(isLargest: boolean, hasScale: boolean): Accumulator {
  const best = createExactExtreme(isLargest)
  return {
    add: (value) => isNumber(value) && best.add(numberText(value)),
    result() {
      const text = best.result()
      if (text === undefined) return null
      return exactResult(hasScale ? text : withoutTrailingZeros(text))
    },
  }
}

function extreme(isLargest: boolean): Accumulator {
  let best: Json = null
  return {
    add(value) {
      if (best === null) best = value
      else if (isLargest ? compareValues(value, best) > 0 : compareValues(value, best) < 0) best = value
    },
    result: () => best,
  }
}
