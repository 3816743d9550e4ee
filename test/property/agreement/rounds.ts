/** Many rounds from one seed, which is printed first so that a failure can be repeated. */
import { storeKind } from '../../support/store-kind.ts'
import { type RoundResult, runRound } from './round.ts'
import { openServices } from './services.ts'
import { sideBySide, totalOf } from './side-by-side.ts'

export interface Rounds {
  readonly cases: number
  readonly seed: number
  /** Requests on one schema and its documents; more of them where a new schema costs more than a request. */
  readonly perRound?: number
  /** Whether to report progress. */
  readonly isLoud?: boolean
}

export async function runRounds({
  cases,
  seed,
  perRound = 200,
  isLoud = false,
}: Rounds): Promise<RoundResult> {
  console.log(`agreement: ${cases} cases, --seed ${seed} --store ${storeKind()}`)
  await using services = await openServices()
  const results = await sideBySide(Math.ceil(cases / perRound), async (i) => {
    const done = i * perRound
    const round = (seed + done) | 0
    if (isLoud && done % 10_000 < perRound) console.log(`${done} cases`)
    try {
      return await runRound(round, Math.min(perRound, cases - done), services)
    } catch (error) {
      const options = `--store ${storeKind()} --cases ${perRound} --per-round ${perRound} --seed ${round}`
      throw new Error(`agreement failed; repeat it with ${options}`, { cause: error })
    }
  })
  return totalOf({ answered: 0, refused: 0, filled: 0 }, results)
}
