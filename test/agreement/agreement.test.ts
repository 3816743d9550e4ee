/**
 * The evaluator, the reference and every store agree; `npm run agreement` asks them for longer. With the updates it makes
 * 23,000 cases.
 */
import { test } from 'node:test'
import { SEED } from '../support/seed.ts'
import { agree } from './agree.ts'

test('find: evaluator, reference and store answer every request alike, with and without indexes', () =>
  agree({ cases: 20_000, seed: SEED, perRound: 400 }))
