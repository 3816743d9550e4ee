/** The list of attacks is whole, and every test that it names is there. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { test } from 'node:test'

const TABLE = readFileSync(new URL('README.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => /^\| \d+ \|/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))

/** A file, and the tests in it that are named after it. */
const NAMED = /\[[^\]]+\]\(([^)]+)\)((?:,? `[^`]+`)*)/g

function* named(): Generator<readonly [row: string, file: string, title: string | undefined]> {
  for (const [, row, , , tests] of TABLE) {
    for (const [, file, titles] of tests!.matchAll(NAMED)) {
      const each = [...titles!.matchAll(/`([^`]+)`/g)].map(([, title]) => title!)
      if (each.length === 0) yield [row!, file!, undefined]
      for (const title of each) yield [row!, file!, title]
    }
  }
}

test('attacks: rows 1 to 35 are listed, each with its tests or the reason why there are none', () => {
  assert.deepEqual(
    TABLE.map(([, row]) => Number(row)),
    Array.from({ length: 35 }, (_, i) => i + 1),
  )
  for (const [, row, name, what, tests] of TABLE) {
    assert.ok(name !== '' && what !== '', `row ${row}`)
    assert.ok(tests !== '' || /not built/i.test(what!), `row ${row}`)
  }
})

test('attacks: every file that is named exists, and holds the tests that are named', () => {
  let count = 0
  for (const [row, file, title] of named()) {
    const text = readFileSync(new URL(file, import.meta.url), 'utf8')
    if (title === undefined) assert.match(text, /\btest\(/, `row ${row}: ${file}`)
    else
      assert.ok(
        ["'", '`'].some((quote) => text.includes(`${quote}${title}${quote}`)),
        `row ${row}: ${title}`,
      )
    count++
  }
  assert.ok(count > 60)
})

test('attacks: every test of this folder is listed', () => {
  const titles = new Set([...named()].map(([, , title]) => title))
  const files = readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.test.ts'))
  for (const file of files.filter((name) => name !== 'readme.test.ts')) {
    const text = readFileSync(new URL(file, import.meta.url), 'utf8')
    for (const [, , title] of text.matchAll(/\btest\(\s*(['`])(.+?)\1,/g)) {
      assert.ok(titles.has(title), `${file}: ${title}`)
    }
  }
})
