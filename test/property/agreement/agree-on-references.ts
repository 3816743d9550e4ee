/** So many random requests across references are answered alike, and enough of the answers say something. */
import assert from 'node:assert/strict'
import { openTesters } from './references-difference.ts'
import { runReferencesRound } from './references-round.ts'

export interface ReferencesRounds {
  readonly cases: number
  readonly seed: number
  /** Requests on one set of entities and documents. */
  readonly perRound: number
  readonly isThorough?: boolean
  /** Whether to report progress. */
  readonly isLoud?: boolean
}

export async function agreeOnReferences(rounds: ReferencesRounds): Promise<void> {
  const { cases, seed, perRound, isThorough = false, isLoud = false } = rounds
  console.log(`agreement across references: ${cases} cases, --references --seed ${seed}`)
  await using testers = await openTesters()
  const total = { answered: 0, refused: 0, filled: 0 }
  for (let done = 0; done < cases; done += perRound) {
    // Rounds draw from seeds of their own, and name their entities by them.
    const round = seed + done
    const requests = Math.min(perRound, cases - done)
    try {
      const result = await runReferencesRound({ seed: round, requests, testers: testers.list, isThorough })
      for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += result[key]
    } catch (cause) {
      const options = `--references --cases ${requests} --per-round ${requests} --seed ${round}`
      throw new Error(`agreement failed; repeat it with ${options}`, { cause })
    }
    if (isLoud) console.log(`${done + requests} cases`)
  }
  if (testers.faults.length > 0) throw new Error('a service went wrong inside', { cause: testers.faults[0] })
  assert.equal(total.answered + total.refused, cases)
  assert.ok(total.refused * 20 < cases, `few requests are refused: ${JSON.stringify(total)}`)
  assert.ok(total.filled * 3 > cases, `a good part of the answers hold documents: ${JSON.stringify(total)}`)
}
