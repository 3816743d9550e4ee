/** The evaluator, the reference and every store agree; `npm run agreement` asks them for longer. */
import { test } from 'node:test'
import { SEED } from '../support/seed.ts'
import { agree } from './agree.ts'

test('find: evaluator, reference and store answer every request alike, with and without indexes', () =>
  agree({ cases: 25_000, seed: SEED }))
