/** Sequences: numbers that nobody was given before, drawn in the transaction that is open. */
import { ServiceError } from '../../base/errors.ts'
import type { Sequence } from '../../schema/field.ts'
import type { Statements } from './read/reads.ts'

/** The first use makes the sequence; later definitions of the same name do not change it. */
export function nextValues(
  { name, initialValue, increment }: Sequence,
  count: number,
  statements: Statements,
): readonly bigint[] {
  statements
    .prepare('insert into smalt_sequence(name, next, increment) values (?, ?, ?) on conflict do nothing')
    .run(name, initialValue, increment)
  const read = statements.prepare('select next, increment from smalt_sequence where name = ?')
  read.setReadBigInts(true)
  const [next, step] = read.get(name) as unknown as [bigint, bigint]
  const after = next + step * BigInt(count)
  if (BigInt.asIntN(64, after) !== after) {
    throw new ServiceError('crud:LimitExceeded', `the sequence ${name} has no more values`)
  }
  statements.prepare('update smalt_sequence set next = ? where name = ?').run(after, name)
  return Array.from({ length: count }, (_, i) => next + step * BigInt(i))
}
