/** Sequences: numbers that nobody was given before, whichever process asks. */
import { ServiceError } from '../../base/errors.ts'
import type { Sequence } from '../../schema/field.ts'
import type { Session } from './connection/connections.ts'
import { stateOf } from './connection/failures.ts'

/** The first use makes the sequence; later definitions of the same name do not change it. */
export async function nextValues(
  { name, initialValue, increment }: Sequence,
  count: number,
  session: Session,
): Promise<readonly bigint[]> {
  const values = [name, initialValue, increment, count]
  try {
    const [row] = await session.query({ text: NEXT, values })
    const [after, step] = [BigInt(row![0]!), BigInt(row![1]!)]
    const first = after - step * BigInt(count)
    return Array.from({ length: count }, (_, i) => first + step * BigInt(i))
  } catch (error) {
    if (stateOf(error) !== OUT_OF_RANGE) throw error
    throw new ServiceError('crud:LimitExceeded', `the sequence ${name} has no more values`)
  }
}

const OUT_OF_RANGE = '22003'

/** What the row holds afterwards is the first value of whoever comes next. */
const NEXT = `insert into smalt_sequence(name, next, increment)
  values ($1, $2::bigint + $3::bigint * $4::bigint, $3::bigint)
  on conflict (name) do update set next = smalt_sequence.next + smalt_sequence.increment * $4::bigint
  returning next, increment`
