/** The evaluator, the reference and every store agree; `npm run agreement` asks them for longer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runRounds } from './rounds.ts'

test('find: evaluator, reference and store answer every request alike, with and without indexes', async () => {
  const cases = 10_000
  const { answered, refused, filled } = await runRounds({ cases })
  assert.equal(answered + refused, cases)
  assert.ok(refused * 10 < answered, 'few requests are refused')
  assert.ok(filled * 3 > answered, 'a good part of the answers hold documents')
})
