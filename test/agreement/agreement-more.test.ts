/** The second half of the agreement test, in a file of its own so that it runs beside the first. */
import { test } from 'node:test'
import { SEED } from '../support/seed.ts'
import { agree } from './agree.ts'

test('find: evaluator, reference and store answer other requests alike, too', () =>
  agree({ cases: 10_000, seed: SEED + 1_000_000, perRound: 400 }))
