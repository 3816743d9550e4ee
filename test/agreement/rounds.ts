/** Many rounds from one seed, which is told first so that a failure can be repeated. */
import { storeKind } from '../support/store-kind.ts'
import { type RoundResult, runRound } from './round.ts'

export interface Rounds {
  readonly cases: number
  readonly seed: number
  /** Requests on one schema and its documents; more of them where a new schema costs more than a request. */
  readonly perRound?: number
  /** Whether to tell of progress. */
  readonly isLoud?: boolean
}

export async function runRounds({
  cases,
  seed,
  perRound = 200,
  isLoud = false,
}: Rounds): Promise<RoundResult> {
  console.log(`agreement: ${cases} cases, --seed ${seed} --store ${storeKind()}`)
  const total = { answered: 0, refused: 0, filled: 0 }
  for (let done = 0; done < cases; done += perRound) {
    const round = (seed + done) | 0
    try {
      const { answered, refused, filled } = await runRound(round, Math.min(perRound, cases - done))
      total.answered += answered
      total.refused += refused
      total.filled += filled
    } catch (error) {
      const options = `--store ${storeKind()} --cases ${perRound} --per-round ${perRound} --seed ${round}`
      throw new Error(`agreement failed; repeat it with ${options}`, { cause: error })
    }
    if (isLoud && done % 10_000 < perRound) console.log(`${done} cases`)
  }
  return total
}
