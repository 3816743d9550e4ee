/** Many rounds from one seed, which is told first so that a failure can be repeated. */
import { type RoundResult, runRound } from './round.ts'

export interface Rounds {
  readonly cases: number
  readonly seed: number
  /** Whether to tell of progress. */
  readonly isLoud?: boolean
}

const PER_ROUND = 200

export async function runRounds({ cases, seed, isLoud = false }: Rounds): Promise<RoundResult> {
  console.log(`agreement: ${cases} cases, --seed ${seed}`)
  const total = { answered: 0, refused: 0, filled: 0 }
  for (let done = 0; done < cases; done += PER_ROUND) {
    const round = (seed + done) | 0
    try {
      const { answered, refused, filled } = await runRound(round, Math.min(PER_ROUND, cases - done))
      total.answered += answered
      total.refused += refused
      total.filled += filled
    } catch (error) {
      throw new Error(`agreement failed; repeat it with --cases ${PER_ROUND} --seed ${round}`, {
        cause: error,
      })
    }
    if (isLoud && done % 10_000 === 0) console.log(`${done} cases`)
  }
  return total
}
