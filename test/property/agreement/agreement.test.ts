/** The evaluator, the reference and every store agree; `npm run agreement` runs more cases. */
import { test } from 'node:test'
import { SEED } from '../../support/seed.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { agree } from './agree.ts'
import { agreeOnUpdates } from './agree-on-updates.ts'

/** Each store is tested with cases of its own; a new schema costs PostgreSQL more, so its rounds are longer. */
const ROUNDS = {
  sqlite: { seed: SEED, finds: 20_000, perRound: 400, updates: 2_000 },
  postgres: { seed: SEED + 2_000_000, finds: 20_000, perRound: 500, updates: 1_000 },
}

onEveryStore((kind) => {
  const { seed, finds, perRound, updates } = ROUNDS[kind]

  test('find: evaluator, reference and store answer every request alike, with and without indexes', () =>
    agree({ cases: finds, seed, perRound }))

  test('update: reference and service make the same of every document, with and without indexes', () =>
    agreeOnUpdates({ cases: updates, seed }))
})
