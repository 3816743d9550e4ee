/** Many rounds from one seed, which is told first so that a failure can be repeated. */
import { type RoundResult, runRound } from './round.ts'

export interface Rounds {
  readonly cases: number
  /** Default: `SMALT_SEED`, or the time. */
  readonly seed?: number
  /** Whether to tell of progress. */
  readonly isLoud?: boolean
}

const PER_ROUND = 200

export async function runRounds({
  cases,
  seed = seedOf(process.env),
  isLoud = false,
}: Rounds): Promise<RoundResult> {
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

function seedOf({ SMALT_SEED }: NodeJS.ProcessEnv): number {
  return SMALT_SEED === undefined ? Date.now() % 1_000_000_000 : Number(SMALT_SEED)
}
