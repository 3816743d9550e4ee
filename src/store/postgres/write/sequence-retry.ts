/**
 * Sequence values for synchronous work, which cannot await them: when one is missing, the work is aborted and
 * run again with one more.
 */
import type { Draw } from '../../../plan/plan.ts'
import type { Sequence } from '../../../schema/field.ts'

export type SequenceDraws = <T>(work: (draw: Draw) => T) => Promise<T>

/** Thrown through the work, which only computes, so that there is nothing to undo. */
class ValueWanted extends Error {
  readonly sequence: Sequence

  constructor(sequence: Sequence) {
    super('a value of a sequence is wanted')
    this.sequence = sequence
  }
}

type NextValues = (sequence: Sequence, count: number) => Promise<readonly bigint[]>

/** Values are fetched in growing batches; unused ones become gaps in the sequence. */
export function createSequenceDraws(nextValues: NextValues): SequenceDraws {
  const spare = new Map<string, bigint[]>()
  let count = 1

  async function next(sequence: Sequence): Promise<bigint> {
    const values = spare.get(sequence.name) ?? []
    if (values.length === 0) {
      values.push(...(await nextValues(sequence, count)))
      count = Math.min(count * 2, 64)
      spare.set(sequence.name, values)
    }
    return values.shift()!
  }

  return async (work) => {
    const given = new Map<string, bigint[]>()
    for (;;) {
      try {
        return work(drawFrom(given))
      } catch (error) {
        if (!(error instanceof ValueWanted)) throw error
        const { name } = error.sequence
        given.set(name, [...(given.get(name) ?? []), await next(error.sequence)])
      }
    }
  }
}

function drawFrom(given: ReadonlyMap<string, readonly bigint[]>): Draw {
  const used = new Map<string, number>()
  return (sequence) => {
    const index = used.get(sequence.name) ?? 0
    const value = given.get(sequence.name)?.[index]
    if (value === undefined) throw new ValueWanted(sequence)
    used.set(sequence.name, index + 1)
    return value
  }
}
