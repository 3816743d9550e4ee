/** So many random updates have the foreseen effect, and enough of them have any. */
import assert from 'node:assert/strict'
import type { Rounds } from './rounds.ts'
import { openServices } from './services.ts'
import { sideBySide, totalOf } from './side-by-side.ts'
import { runUpdateRound } from './update-round.ts'

const PER_ROUND = 50

export async function agreeOnUpdates({ cases, seed }: Pick<Rounds, 'cases' | 'seed'>): Promise<void> {
  console.log(`update agreement: ${cases} cases, seed ${seed}`)
  await using services = await openServices()
  const results = await sideBySide(cases / PER_ROUND, (i) =>
    // What indexes change is asked every time; the other service, which does less, every other time.
    runUpdateRound((seed + i * PER_ROUND) | 0, PER_ROUND, { services, isAlone: i % 2 === 1 }),
  )
  const total = totalOf({ answered: 0, refused: 0, modified: 0, failed: 0 }, results)
  assert.equal(total.answered + total.refused, cases)
  assert.ok(total.refused * 10 < cases, `few requests are refused: ${JSON.stringify(total)}`)
  assert.ok(total.modified > cases, `documents are changed: ${JSON.stringify(total)}`)
  assert.ok(total.failed > 0, `some documents fail: ${JSON.stringify(total)}`)
}
