/** Rounds side by side: while one waits for a server, others go on. */
import { storeKind } from '../../support/store-kind.ts'

/** On SQLite one after the other: a reader thread with a cursor still open does not see what others wrote since. */
const ROUNDS_AT_ONCE = { sqlite: 1, postgres: 4 }

/** Runs so many rounds, each from its number; after a failure no more begin, and the first of them is thrown. */
export async function sideBySide<T>(
  count: number,
  run: (round: number) => Promise<T>,
): Promise<readonly T[]> {
  const results: T[] = []
  const failures: { readonly round: number; readonly error: unknown }[] = []
  let next = 0
  const runRounds = async (): Promise<void> => {
    while (next < count && failures.length === 0) {
      const round = next++
      try {
        results.push(await run(round))
      } catch (error) {
        failures.push({ round, error })
      }
    }
  }
  await Promise.all(Array.from({ length: ROUNDS_AT_ONCE[storeKind()] }, runRounds))
  const [first] = failures.toSorted((a, b) => a.round - b.round)
  if (first) throw first.error
  return results
}

/** What all rounds came to. */
export function totalOf<Counts extends Readonly<Record<keyof Counts, number>>>(
  none: Counts,
  results: readonly Counts[],
): Counts {
  const keys = Object.keys(none) as (keyof Counts)[]
  return Object.fromEntries(
    keys.map((key) => [key, results.reduce((sum, result) => sum + result[key], 0)]),
  ) as Counts
}
