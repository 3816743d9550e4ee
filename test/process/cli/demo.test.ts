/** `smalt demo` and `smalt init`, from outside: the printed commands do what they promise. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { EXAMPLES } from '../../../src/cli/demo/run-demo.ts'
import { shopDocuments } from '../../../src/cli/demo/shop-documents.ts'
import { startCli } from '../../support/cli-process.ts'
import { runCommand } from '../../support/command.ts'
import { freshPlace } from '../../support/store-kind.ts'
import { startSmalt } from '../../support/smalt-process.ts'

const scratch = mkdtempSync(join(tmpdir(), 'smalt-demo-test-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

test('demo: about 15,000 documents in 8 entities, five commands, one of them refused', async (t) => {
  const began = performance.now()
  const { child, ended } = startCli(['demo', '--port', '0'], { cwd: scratch })
  let out = ''
  const isReady = Promise.withResolvers<void>()
  child.stdout!.on('data', (chunk) => {
    out += String(chunk)
    if (out.includes('Ctrl-C')) isReady.resolve()
  })
  await Promise.race([isReady.promise, ended.then(({ err }) => Promise.reject(new Error(err)))])
  // the goal is 10 seconds on an idle machine
  t.diagnostic(`ready after ${((performance.now() - began) / 1_000).toFixed(1)} s`)
  const [, url] = /is ready at (\S+) /.exec(out)!
  const environment = { SMALT_URL: url! }
  const total = [...shopDocuments().values()].reduce((sum, each) => sum + each.length, 0)
  assert.ok(total > 14_000 && total < 16_000, String(total))
  assert.equal(shopDocuments().size, 8)
  assert.match(out, new RegExp(`with ${total.toLocaleString('en')} documents in 8 entities`))
  assert.equal(EXAMPLES.length, 5)
  for (const [command, summary] of EXAMPLES) {
    assert.ok(out.includes(`smalt ${command}`), command)
    const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)
    const done = await runCommand(words, { cwd: scratch, environment })
    const isRefused = summary.startsWith('refused')
    assert.equal(done.code, isRefused ? 5 : 0, done.err)
    if (isRefused) assert.match(done.err, /you may not read "salary"/)
    else assert.notEqual(done.out, '', command)
  }
  child.kill('SIGINT')
  assert.equal((await ended).code, 0)
})

test('init: writes a project that can be started and applied, and overwrites nothing', async () => {
  const written = await runCommand(['init', 'notes'], { cwd: scratch })
  assert.equal(written.code, 0, written.err)
  assert.ok(existsSync(join(scratch, 'notes/metadata/note/1.0.0.json')))
  assert.equal((await runCommand(['init', 'notes'], { cwd: scratch })).code, 6)
  assert.equal((await runCommand(['config'], { cwd: join(scratch, 'notes') })).code, 0)
  await using place = await freshPlace('sqlite')
  await using smalt = await startSmalt(place.location)
  const environment = { SMALT_URL: smalt.url }
  const at = { cwd: join(scratch, 'notes'), environment }
  const applied = await runCommand(['metadata', 'apply', 'metadata'], at)
  assert.deepEqual([applied.code, applied.out], [0, '+ note (1.0.0)\n'], applied.err)
  const inserted = await runCommand(['insert', 'note', '{"title":"Hello"}', '--role', 'writer'], at)
  assert.equal(inserted.code, 0, inserted.err)
  assert.match((await runCommand(['find', 'note'], at)).out, /"title":"Hello".*"created":"\d{8}T/)
})
