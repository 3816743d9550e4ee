/** What a process loads only when it is needed. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '../../..')

test('start: a stemmer is loaded with the first word in its language, and no other', () => {
  const script = `
    await import('${join(ROOT, 'src/cli/serve/serve.ts')}')
    const { wordsIn } = await import('${join(ROOT, 'src/base/words.ts')}')
    const { createRequire } = await import('node:module')
    const { cache } = createRequire('${ROOT}/')
    const loaded = () => Object.keys(cache).flatMap((each) => each.match(/(porter2|stemmers).*$/)?.[0] ?? [])
    const steps = [undefined, 'german', 'english'].map((language) => {
      wordsIn('Häuser houses', language)
      return loaded()
    })
    console.log(JSON.stringify(steps))`
  const args = ['--input-type=module', '-e', script]
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
  const german = 'stemmers/dist/de.cjs'
  const english = 'porter2/dist/index.js'
  assert.deepEqual(JSON.parse(stdout || '[]'), [[], [german], [german, english]], stderr)
})
