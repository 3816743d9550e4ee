/** The runner does not follow promises any more, and still no file passes that lost a rejection. */
import assert from 'node:assert/strict'
import { executionAsyncId } from 'node:async_hooks'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { trackUntil } from '../../support/untracked-promises.ts'

trackUntil(Promise.resolve())

function run(file: string) {
  // with this variable, the runner would report to the one of this process
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const args = ['--test', '--test-reporter=spec', join(import.meta.dirname, file)]
  return spawnSync(process.execPath, args, { env, encoding: 'utf8' })
}

test('runner: a rejection that nobody handles fails its file', () => {
  const { status, stdout } = run('lost-rejection.ts')
  assert.equal(status, 1)
  assert.match(stdout, /Error: nobody waits for this/)
})

test('runner: where files share a process, only the one that lost the rejection fails', () => {
  const { status, stdout } = run('group-of-two.ts')
  assert.equal(status, 1)
  assert.match(stdout, /✖ \S+lost-rejection\.ts/)
  assert.match(stdout, /nobody waits for this/)
  assert.match(stdout, /✔ \S+in-order\.ts/)
})

test('runner: promises are not followed', async () => {
  // what runs after a timer that was started here still belongs to it
  await new Promise((resolve) => setTimeout(resolve, 1))
  await Promise.resolve()
  assert.equal(executionAsyncId(), 0)
})
