/**
 * Sequence values for synchronous work, which cannot await them: when one is missing, the work is aborted and run again
 * with about twice as many, so that work that needs many values runs a few times only.
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

/** Values of a sequence that were fetched, in order. */
interface Fetched {
  readonly values: bigint[]
  /** How many of them were used by work that is done. */
  used: number
}

/** The most that are fetched before any work is known to need them. */
const MAX_SPARE = 64

/** Values are fetched in growing batches. What one work leaves is for the next; what the last one leaves are gaps. */
export function createSequenceDraws(nextValues: NextValues): SequenceDraws {
  const fetched = new Map<string, Fetched>()
  let batch = 1

  async function fetchMore(sequence: Sequence): Promise<void> {
    const own = fetched.get(sequence.name) ?? { values: [], used: 0 }
    fetched.set(sequence.name, own)
    const values = await nextValues(sequence, Math.max(batch, own.values.length - own.used))
    own.values.splice(0, own.used)
    own.used = 0
    for (const each of values) own.values.push(each)
    batch = Math.min(batch * 2, MAX_SPARE)
  }

  return async (work) => {
    for (;;) {
      const drawn = new Map<string, number>()
      try {
        const result = work(drawFrom(fetched, drawn))
        for (const [name, count] of drawn) fetched.get(name)!.used += count
        return result
      } catch (error) {
        if (!(error instanceof ValueWanted)) throw error
        await fetchMore(error.sequence)
      }
    }
  }
}

function drawFrom(fetched: ReadonlyMap<string, Fetched>, drawn: Map<string, number>): Draw {
  return (sequence) => {
    const count = drawn.get(sequence.name) ?? 0
    const own = fetched.get(sequence.name)
    const value = own?.values[own.used + count]
    if (value === undefined) throw new ValueWanted(sequence)
    drawn.set(sequence.name, count + 1)
    return value
  }
}
