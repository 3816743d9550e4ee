/** The example of the page is imported by the commands it shows, and found as it shows. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { runCommand } from '../../support/command.ts'
import { runCurl } from './curl.ts'
import { blocksOf, isAsShown, isTextAsShown } from './page.ts'
import { ADDRESS, startedServer } from './started-server.ts'

const PAGE = 'docs/how-to/come-from-lightblue.md'
const FILE = 'json file '
/** Commands that need an installation of Lightblue. */
const ELSEWHERE = 'lightblue.example'

test(`${PAGE}: every command answers as shown`, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-docs-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const blocks = blocksOf(PAGE)
  for (const { tag, text } of blocks.filter((block) => block.tag.startsWith(FILE))) {
    const path = join(directory, tag.slice(FILE.length))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  let commands = 0
  for (const [i, { tag, text, line }] of blocks.entries()) {
    if (tag !== 'sh' || text.includes(ELSEWHERE) || text.trim() === 'smalt') continue
    commands++
    await t.test(`line ${line}`, async () => {
      const { tag: kind, text: shown } = blocks[i + 1]!
      const output = await outputOf(text.trim(), directory)
      if (kind === 'text answer') return assert.ok(isTextAsShown(shown, output), output)
      assert.ok(isAsShown(parseJson(shown, 64), parseJson(output, 64)), output)
    })
  }
  assert.equal(commands, 5)
})

async function outputOf(command: string, directory: string): Promise<string> {
  const [program, ...args] = command.split(' ')
  if (program === 'cat') return readFileSync(join(directory, args[0]!), 'utf8').trimEnd()
  if (program === 'smalt') {
    const { code, out, err } = await runCommand(args, { cwd: directory })
    assert.equal(code, 7, err)
    return out
  }
  await using server = await startedServer(join(directory, 'data'))
  return await runCurl(command.replaceAll(ADDRESS, server.address))
}
