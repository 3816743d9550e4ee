/** As of a moment a service answers what it answered then, wherever the entities live. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PLACINGS, openReferencesService } from '../../support/references-service.ts'
import { SEED } from '../../support/seed.ts'
import { runPastRound } from './past-round.ts'

const ROUNDS = 2
const WRITES = 17

for (const [i, placing] of PLACINGS.entries()) {
  test(`asOf: every answer is the one of then, on ${placing.name}`, async () => {
    await using tester = await openReferencesService(placing)
    const total = { asked: 0, filled: 0, compared: 0, changed: 0 }
    for (let round = 0; round < ROUNDS; round++) {
      const seed = SEED + 10_000 * (ROUNDS * i + round)
      try {
        const result = await runPastRound(tester, { seed, writes: WRITES, requests: 4 })
        for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += result[key]
      } catch (cause) {
        throw new Error(`looking back failed in the round of seed ${seed}`, { cause })
      }
    }
    console.log(`looking back on ${placing.name}, seeds from ${SEED + 10_000 * ROUNDS * i}:`, total)
    assert.equal(total.asked, ROUNDS * WRITES * 4)
    assert.ok(total.filled * 10 > total.asked, `a good part of the answers hold documents`)
    assert.ok(total.changed * 10 > total.compared, `a good part of the answers are others by now`)
  })
}
