/** So many random requests are answered alike, and enough of the answers say something. */
import assert from 'node:assert/strict'
import { type Rounds, runRounds } from './rounds.ts'

export async function agree(options: Rounds): Promise<void> {
  const { answered, refused, filled } = await runRounds(options)
  assert.equal(answered + refused, options.cases)
  assert.ok(refused * 10 < answered, 'few requests are refused')
  assert.ok(filled * 3 > answered, 'a good part of the answers hold documents')
}
