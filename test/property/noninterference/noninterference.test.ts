/** Data that a caller may not read does not change any answer to them; `npm run noninterference` runs more pairs. */
import { test } from 'node:test'
import { SEED } from '../../support/seed.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { assertIndistinguishable } from './assert-indistinguishable.ts'

/** Each store is tested with pairs of its own; a new world costs PostgreSQL more, so its rounds are longer. */
const ROUNDS = {
  sqlite: { pairs: 5_000, seed: SEED, perRound: 250 },
  postgres: { pairs: 5_000, seed: SEED + 1_000_000, perRound: 500 },
}

onEveryStore((kind) => {
  test('access: two databases that differ in what a caller may not read answer them alike, on every route', () =>
    assertIndistinguishable(ROUNDS[kind]))
})
