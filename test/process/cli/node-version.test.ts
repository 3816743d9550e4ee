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

const ENTRY_POINTS = ['src/cli/main.ts', 'src/index.ts']

for (const path of ENTRY_POINTS) {
  test(`${path}: the oldest Node.js is the one that package.json names, and the check needs no import`, () => {
    const source = readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
    const { engines } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
    assert.equal(engines.node, `>=${/OLDEST_NODE = (\d+)/.exec(source)![1]}`)
    assert.doesNotMatch(source, /^(?:import|export (?!type|const)) /m)
  })
}

test('library: an older Node.js is refused in one sentence', async (t) => {
  const { versions } = process
  t.after(() => Object.defineProperty(process, 'versions', { value: versions }))
  Object.defineProperty(process, 'versions', { value: { ...versions, node: '20.1.0' }, configurable: true })
  // another address is another module, which is evaluated anew
  await assert.rejects(import(`${new URL('../../../src/index.ts', import.meta.url).href}?old`), {
    message: 'smalt: Node.js 24 or newer is needed, but this is 20.1.0',
  })
})

test('library: the entry point exports every value of the library', async () => {
  const [entry, library] = await Promise.all([
    import('../../../src/index.ts'),
    import('../../../src/library.ts'),
  ])
  assert.deepEqual(Object.keys(entry).sort(), Object.keys(library).sort())
})
