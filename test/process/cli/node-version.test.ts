/** On a Node.js that is too old, the executable says so instead of failing to parse its modules. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { runCommand } from '../../support/command.ts'

test('smalt: an older Node.js is refused in one sentence', async (t) => {
  const { versions } = process
  t.after(() => Object.defineProperty(process, 'versions', { value: versions }))
  Object.defineProperty(process, 'versions', { value: { ...versions, node: '22.1.0' }, configurable: true })
  assert.deepEqual(await runCommand(['--version']), {
    code: 1,
    out: '',
    err: 'smalt: Node.js 24 or newer is needed, but this is 22.1.0\n',
  })
})

test('smalt: the oldest Node.js is the one that package.json names, and the check needs no import', () => {
  const source = readFileSync(new URL('../../../src/cli/main.ts', import.meta.url), 'utf8')
  const { engines } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  assert.equal(engines.node, `>=${/OLDEST_NODE = (\d+)/.exec(source)![1]}`)
  assert.doesNotMatch(source, /^import /m)
})
