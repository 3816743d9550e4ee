/** The agreement tests, on PostgreSQL. */
import { test } from 'node:test'
import { SEED } from '../../support/seed.ts'
import { chooseStore } from '../../support/store-kind.ts'
import { agree } from './agree.ts'
import { agreeOnUpdates } from './agree-on-updates.ts'

chooseStore('postgres')

test('find: evaluator, reference and PostgreSQL answer every request alike, with and without indexes', () =>
  agree({ cases: 20_000, seed: SEED + 2_000_000, perRound: 500 }))

test('update: reference and PostgreSQL make the same of every document, with and without indexes', () =>
  agreeOnUpdates({ cases: 1_000, seed: SEED + 2_000_000 }))
