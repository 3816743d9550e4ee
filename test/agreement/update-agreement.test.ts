/** The service and a simple-minded reference make the same of every update; `SMALT_SEED` repeats a run. */
import { test } from 'node:test'
import { SEED } from '../support/seed.ts'
import { agreeOnUpdates } from './agree-on-updates.ts'

test('update: reference and service make the same of every document, with and without indexes', () =>
  agreeOnUpdates({ cases: 3_000, seed: SEED }))
