/** Every command of the README and the tutorial is run, in order, and answers what the page shows. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import type { Json } from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { runCurl } from './curl.ts'
import { type Block, ROOT, blocksOf, isAsShown, isTextAsShown } from './page.ts'

const PAGES = [
  'README.md',
  'docs/tutorial.md',
  'docs/how-to/check-access.md',
  'docs/how-to/follow-references.md',
  'docs/how-to/look-back.md',
  'docs/how-to/react-to-changes.md',
  'docs/how-to/receive-webhooks.md',
  'docs/how-to/publish-to-nats.md',
]
/** An answer that is no JSON. */
const TEXT = 'text answer'
const ADDRESS = 'http://127.0.0.1:8080'

for (const page of PAGES) {
  test(`${page}: every command answers as shown`, async (t) => {
    await using server = await startedServer()
    const steps = stepsOf(page)
    assert.ok(steps.length > 0)
    let outputs = ''
    for (const { command, shown } of steps) {
      await t.test(`line ${command.line}`, async () => {
        const output = await runCurl(filledIn(command.text, outputs).replaceAll(ADDRESS, server.address))
        outputs += output
        if (!shown) return
        if (shown.tag === TEXT) return assert.ok(isTextAsShown(shown.text, output), output)
        const answer = output.startsWith('{') || output.startsWith('[') ? parseJson(output, 64) : output
        const expected: Json = shown.tag === 'json' ? parseJson(shown.text, 64) : shown.text
        assert.ok(isAsShown(expected, answer), `the page shows\n${shown.text}\nbut the answer is\n${output}`)
      })
    }
  })
}

test('docs/how-to/receive-webhooks.md: the receiver shown is the one that the tests receive with', () => {
  const shown = blocksOf('docs/how-to/receive-webhooks.md').find(({ tag }) => tag === 'ts')
  const source = readFileSync(join(ROOT, 'test/service/sinks/receiver-example.ts'), 'utf8')
  assert.equal(shown!.text.trimEnd(), source.trimEnd())
})

test('docs/how-to/publish-to-nats.md: the consumer shown is the one that the tests consume with', () => {
  const shown = blocksOf('docs/how-to/publish-to-nats.md').find(({ tag }) => tag === 'ts')
  const source = readFileSync(join(ROOT, 'test/process/nats/consumer-example.ts'), 'utf8')
  assert.equal(shown!.text.trimEnd(), source.trimEnd())
})

/** Where a command says `name:…`, the first version of a document of that name that an answer before has told. */
function filledIn(command: string, outputs: string): string {
  return command.replaceAll(/\b(\w+):…/g, (_, name: string) => {
    const told = new RegExp(`\\b${name}:\\d+`).exec(outputs)
    assert.ok(told, `no answer has told of a version of ${name}`)
    return told[0]
  })
}

interface Step {
  readonly command: Block
  /** The block right after the command, when it is an answer. */
  readonly shown?: Block
}

function stepsOf(page: string): readonly Step[] {
  const blocks = blocksOf(page)
  return blocks.flatMap((command, i): readonly Step[] => {
    if (command.tag !== 'sh' || !command.text.includes('curl')) return []
    const next = blocks[i + 1]
    return [next?.tag === 'json' || next?.tag === TEXT ? { command, shown: next } : { command }]
  })
}

async function startedServer(): Promise<{ readonly address: string } & AsyncDisposable> {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-docs-'))
  const args = [join(ROOT, 'src/cli/main.ts'), '--port', '0', '--data', directory]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  return {
    address: await addressOf(child),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const { msg, api } = JSON.parse(line) as { readonly msg?: string; readonly api?: string }
    if (msg !== 'listening') continue
    child.stdout!.resume()
    return api!
  }
  throw new Error('the server ended before it listened')
}
