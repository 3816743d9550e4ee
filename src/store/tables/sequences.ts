/** Sequences: values that are unique across all processes. */
import { ServiceError } from '../../base/errors.ts'
import type { Sequence } from '../../schema/field.ts'
import type { Engine, Rows, Urgency } from '../engine.ts'
import { type Fragment, param, sql } from '../sql/fragment.ts'

export interface Sequences {
  /** Returns values that are unique for all time. */
  readonly next: (sequence: Sequence, count: number) => Promise<readonly bigint[]>
}

export function createSequences(engine: Engine): Sequences {
  return { next: (sequence, count) => engine.run('sequence', () => nextValues(engine, sequence, { count })) }
}

export async function nextValues(
  engine: Engine,
  sequence: Sequence,
  { count, ...urgency }: Urgency & { readonly count: number },
): Promise<readonly bigint[]> {
  const [rows] = await engine.batch([advance(sequence, count)], urgency)
  return valuesFrom(rows!, sequence, count)
}

/**
 * The row has the next value to hand out. The first use creates it; later definitions of the same name do not
 * change it. No row is returned when the values would exceed 64 bits: engines differ on overflow, so the
 * condition rules it out without computing such a number.
 */
export function advance({ name, initialValue, increment }: Sequence, count: number): Fragment {
  const after = initialValue + increment * BigInt(count)
  if (BigInt.asIntN(64, after) !== after) throw exhausted(name)
  const most = LARGEST / BigInt(Math.max(count, 1))
  const step = sql`smalt_sequence.increment * ${param(BigInt(count))}`
  return sql`insert into smalt_sequence(name, next, increment)
    values (${param(name)}, ${param(after)}, ${param(increment)})
    on conflict (name) do update set next = smalt_sequence.next + ${step}
    where case
      when smalt_sequence.increment between 0 and ${param(most)}
        then smalt_sequence.next <= ${param(LARGEST)} - ${step}
      when smalt_sequence.increment between ${param(-most)} and 0
        then smalt_sequence.next >= ${param(-LARGEST)} - ${step}
      else false end
    returning next || '', increment || ''`
}

const LARGEST = 2n ** 63n - 1n

/** The values that the row of `advance` stands for. */
export function valuesFrom([row]: Rows, { name }: Sequence, count: number): readonly bigint[] {
  if (!row) throw exhausted(name)
  const step = BigInt(row[1]!)
  const first = BigInt(row[0]!) - step * BigInt(count)
  return Array.from({ length: count }, (_, i) => first + step * BigInt(i))
}

function exhausted(name: string): ServiceError {
  return new ServiceError('crud:LimitExceeded', `the sequence ${name} has no more values`)
}
