/** The non-interference test, on PostgreSQL. */
import { test } from 'node:test'
import { SEED } from '../../support/seed.ts'
import { chooseStore } from '../../support/store-kind.ts'
import { tellNothingApart } from './tell-nothing-apart.ts'

chooseStore('postgres')

test('access: two databases on PostgreSQL that differ in what a caller may not read answer them alike', () =>
  tellNothingApart({ pairs: 5_000, seed: SEED + 1_000_000, perRound: 500 }))
