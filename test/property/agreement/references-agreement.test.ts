/**
 * The evaluator, the reference and every placing of entities on stores agree on what leads through references;
 * `npm run agreement -- --references` asks for longer.
 */
import { test } from 'node:test'
import { SEED } from '../../support/seed.ts'
import { agreeOnReferences } from './agree-on-references.ts'

test('find: evaluator, reference and stores answer every request across references alike', () =>
  agreeOnReferences({ cases: 10_000, seed: SEED + 5_000_000, perRound: 500 }))
