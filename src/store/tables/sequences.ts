/** Sequences: values that are unique across all processes. */
import { ServiceError } from '../../base/errors.ts'
import type { Sequence } from '../../schema/field.ts'
import type { Engine, QueryOptions, Rows } from '../engine.ts'
import type { PeekOptions, Store } from '../store.ts'
import { type Fragment, param, raw, sql } from '../sql/fragment.ts'

/** The operations of a store on its sequences. */
export function createSequences(engine: Engine): Pick<Store, 'nextValues' | 'peekValues' | 'raiseSequence'> {
  return {
    nextValues: (sequence, count, bounds) =>
      engine.run('sequence', () => nextValues(engine, sequence, { count, bounds })),
    peekValues: (sequence, options) => engine.run('sequence', () => peekValues(engine, sequence, options)),
    raiseSequence: (sequence) =>
      engine.run('sequence', async () => {
        await engine.batch([raised(sequence)])
      }),
  }
}

async function peekValues(
  engine: Engine,
  sequence: Sequence,
  { skip, count }: PeekOptions,
): Promise<readonly bigint[]> {
  const columns = raw(`next || '', increment || ''`)
  const [row] = await engine.query(
    sql`select ${columns} from smalt_sequence where name = ${param(sequence.name)}`,
  )
  const step = row ? BigInt(row[1]!) : sequence.increment
  const first = (row ? BigInt(row[0]!) : sequence.initialValue) + step * BigInt(skip)
  const after = first + step * BigInt(count)
  requireLong(after, sequence)
  return Array.from({ length: count }, (_, i) => first + step * BigInt(i))
}

/** Values for a dry run: each one once, although none is taken. */
export function peekingOn({ peekValues: peek }: Pick<Store, 'peekValues'>): Store['nextValues'] {
  const skipped = new Map<string, number>()
  return async (sequence, count) => {
    const skip = skipped.get(sequence.name) ?? 0
    skipped.set(sequence.name, skip + count)
    return await peek(sequence, { skip, count })
  }
}

export async function nextValues(
  engine: Engine,
  sequence: Sequence,
  { count, ...options }: QueryOptions & { readonly count: number },
): Promise<readonly bigint[]> {
  const [rows] = await engine.batch([advance(sequence, count)], options)
  return valuesFrom(rows!, sequence, count)
}

/**
 * The row has the next value to hand out. The first use creates it; later definitions of the same name do not
 * change it. No row is returned when the values would exceed 64 bits: engines differ on overflow, so the
 * condition rules it out without computing such a number.
 */
export function advance(sequence: Sequence, count: number): Fragment {
  const { name, initialValue, increment } = sequence
  const after = initialValue + increment * BigInt(count)
  requireLong(after, sequence)
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

/** The direction of a sequence is that of the stored increment. */
function raised(sequence: Sequence): Fragment {
  const { name, initialValue, increment } = sequence
  requireLong(initialValue, sequence)
  return sql`insert into smalt_sequence(name, next, increment)
    values (${param(name)}, ${param(initialValue)}, ${param(increment)})
    on conflict (name) do update set next = excluded.next
    where case
      when smalt_sequence.increment < 0 then excluded.next < smalt_sequence.next
      else excluded.next > smalt_sequence.next end`
}

const LARGEST = 2n ** 63n - 1n

/** The values that the row of `advance` stands for. */
export function valuesFrom([row]: Rows, { name }: Sequence, count: number): readonly bigint[] {
  if (!row) throw exhausted(name)
  const step = BigInt(row[1]!)
  const first = BigInt(row[0]!) - step * BigInt(count)
  return Array.from({ length: count }, (_, i) => first + step * BigInt(i))
}

function requireLong(value: bigint, { name }: Sequence): void {
  if (BigInt.asIntN(64, value) !== value) throw exhausted(name)
}

function exhausted(name: string): ServiceError {
  return new ServiceError('crud:LimitExceeded', `the sequence ${name} has no more values`)
}
