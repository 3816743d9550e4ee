/** Versions may disagree about types; evaluator, SQLite and PostgreSQL agree about what that means. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SEED } from '../../support/seed.ts'
import { runTypesRound } from './types-round.ts'
import { openTypesServices } from './types-services.ts'

const ROUNDS = 4
const REQUESTS = 150

test('find, update: where versions disagree about types, all stores answer as the evaluator does', async () => {
  await using services = await openTypesServices()
  const total = { answered: 0, refused: 0, filled: 0, modified: 0, failed: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    const seed = SEED + 1_000 * round
    const result = await runTypesRound(services, { seed, requests: REQUESTS, perUpdate: 12 })
    for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += result[key]
  }
  console.log(`types: ${ROUNDS} rounds, seeds from ${SEED}:`, total)
  assert.equal(total.answered + total.refused, ROUNDS * REQUESTS)
  assert.ok(total.refused * 5 < total.answered, 'few requests are refused')
  assert.ok(total.filled * 3 > total.answered, 'a good part of the answers hold documents')
  assert.ok(total.modified > ROUNDS && total.failed > 0, 'updates change documents, and cannot change others')
})
