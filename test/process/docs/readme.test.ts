/** Every command of the README and the tutorial is run, in order, and answers what the page shows. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Json } from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { runCurl } from './curl.ts'
import { type Block, ROOT, blocksOf, isAsShown, isTextAsShown } from './page.ts'
import { ADDRESS, startedServer } from './started-server.ts'

const PAGES = [
  'README.md',
  'docs/tutorial.md',
  'docs/how-to/build-a-dashboard.md',
  'docs/how-to/check-access.md',
  'docs/how-to/follow-references.md',
  'docs/how-to/look-back.md',
  'docs/how-to/paginate.md',
  'docs/how-to/search.md',
  'docs/how-to/use-plain-rest.md',
  'docs/how-to/react-to-changes.md',
  'docs/how-to/receive-webhooks.md',
  'docs/how-to/publish-to-nats.md',
  'docs/how-to/retry-safely.md',
]
/** Page → the page whose first command defines its entity. */
const DEFINED_BY: ReadonlyMap<string, string> = new Map([
  ['docs/how-to/receive-webhooks.md', 'docs/how-to/react-to-changes.md'],
  ['docs/how-to/publish-to-nats.md', 'docs/how-to/react-to-changes.md'],
])
/** An answer that is no JSON. */
const TEXT = 'text answer'

for (const page of PAGES) {
  test(`${page}: every command answers as shown`, async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'smalt-docs-'))
    t.after(() => rmSync(directory, { recursive: true, force: true }))
    await using server = await startedServer(directory)
    const steps = stepsOf(page)
    assert.ok(steps.length > 0)
    const definedBy = DEFINED_BY.get(page)
    if (definedBy !== undefined) {
      const [{ command }] = stepsOf(definedBy) as [Step]
      await runCurl(command.text.replaceAll(ADDRESS, server.address))
    }
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

/**
 * Where a command says `name:…`, the first version of a document of that name that an answer before has told; where it
 * says `after` or `NEXT`, and `…`, the last cursor.
 */
function filledIn(command: string, outputs: string): string {
  const cursors = [...outputs.matchAll(/"next":"([^"]*)"/g)].map(([, cursor]) => cursor!)
  const after = command.replaceAll(/("after": "|NEXT=')…/g, (_, before: string) => {
    assert.ok(cursors.length > 0, 'no answer has told of a cursor')
    return before + cursors.at(-1)!
  })
  return after.replaceAll(/\b(\w+):…/g, (_, name: string) => {
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
