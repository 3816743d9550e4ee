/** The second half of the agreement across references, in a file of its own so that it runs beside the first. */
import { test } from 'node:test'
import { SEED } from '../support/seed.ts'
import { agreeOnReferences } from './agree-on-references.ts'

test('find: evaluator, reference and stores answer other requests across references alike, too', () =>
  agreeOnReferences({ cases: 5_000, seed: SEED + 7_000_000, perRound: 500 }))
