/** The service and a simple-minded reference make the same of every update; `SMALT_SEED` repeats a run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SEED } from '../support/seed.ts'
import { runUpdateRound } from './update-round.ts'

const CASES = 5_000
const PER_ROUND = 50

test('update: reference and service make the same of every document, with and without indexes', async () => {
  console.log(`update agreement: ${CASES} cases, SMALT_SEED=${SEED}`)
  const total = { answered: 0, refused: 0, modified: 0, failed: 0 }
  for (let done = 0; done < CASES; done += PER_ROUND) {
    const result = await runUpdateRound((SEED + done) | 0, PER_ROUND)
    for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += result[key]
  }
  assert.equal(total.answered + total.refused, CASES)
  assert.ok(total.refused * 10 < CASES, `few requests are refused: ${JSON.stringify(total)}`)
  assert.ok(total.modified > CASES, `documents are changed: ${JSON.stringify(total)}`)
  assert.ok(total.failed > 0, `some documents fail: ${JSON.stringify(total)}`)
})
