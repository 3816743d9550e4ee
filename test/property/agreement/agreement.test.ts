/** The evaluator, the reference and every store agree; `npm run agreement` asks them for longer. */
import { test } from 'node:test'
import { SEED } from '../../support/seed.ts'
import { agree } from './agree.ts'
import { agreeOnUpdates } from './agree-on-updates.ts'

test('find: evaluator, reference and store answer every request alike, with and without indexes', () =>
  agree({ cases: 20_000, seed: SEED, perRound: 400 }))

test('update: reference and service make the same of every document, with and without indexes', () =>
  agreeOnUpdates({ cases: 2_000, seed: SEED }))
