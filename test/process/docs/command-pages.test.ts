/** The commands of the pages about the command line are run, in order, against a real process. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { runCommand } from '../../support/command.ts'
import { blocksOf, isTextAsShown } from './page.ts'
import { startedServer } from './started-server.ts'

const PAGES = ['docs/how-to/import-a-csv.md', 'docs/how-to/keep-metadata-in-git.md']

for (const page of PAGES) {
  test(`${page}: every command does what it says`, async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'smalt-docs-'))
    t.after(() => rmSync(directory, { recursive: true, force: true }))
    await using server = await startedServer(join(directory, 'data'))
    let output = ''
    for (const { tag, text, line } of blocksOf(page)) {
      const [language, kind, code = '0'] = tag.split(' ')
      if (language === 'text' && kind === 'answer') {
        assert.ok(isTextAsShown(text, output.replaceAll('\r', '')), `line ${line}: ${output}`)
      } else if (language === 'sh') {
        for (const command of text.split('\n')) {
          const words = wordsOf(command)
          assert.equal(words.shift(), 'smalt', `line ${line}`)
          const environment = { SMALT_URL: server.address }
          const ended = await runCommand(words, { cwd: directory, environment })
          assert.equal(ended.code, Number(code), `line ${line}, ${command}: ${ended.err}`)
          output = ended.out
        }
      } else if (kind !== undefined) {
        mkdirSync(dirname(join(directory, kind)), { recursive: true })
        writeFileSync(join(directory, kind), `${text}\n`)
      }
    }
  })
}

/** As a shell splits them: quotes keep a word together. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)
}
