/** A test that fails only by a promise that nobody waits for. */
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
// eslint-disable-next-line import/no-unassigned-import -- what is tested
import '../../support/untracked-promises.ts'

test('a rejection is lost', async () => {
  await pause(1)
  void Promise.reject(new Error('nobody waits for this'))
  await pause(10)
})
