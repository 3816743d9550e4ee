/** What a caller may not read makes no difference to them; `npm run noninterference` asks for longer. */
import { test } from 'node:test'
import { SEED } from '../../support/seed.ts'
import { tellNothingApart } from './tell-nothing-apart.ts'

test('access: two databases that differ in what a caller may not read answer them alike, on every route', () =>
  tellNothingApart({ pairs: 5_000, seed: SEED, perRound: 250 }))
