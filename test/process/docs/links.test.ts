/** Links between pages lead somewhere, and so do the headings they name. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from './page.ts'

for (const page of globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT }).sort()) {
  test(`${page}: every link leads somewhere`, () => {
    for (const link of linksOf(page)) {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? page : join(dirname(page), path)
      assert.ok(existsSync(join(ROOT, target)), `${link} leads to no file`)
      if (anchor !== undefined) assert.ok(anchorsOf(target).includes(anchor), `${link} names no heading`)
    }
  })
}

function linksOf(page: string): readonly string[] {
  const links = prose(page).matchAll(/\]\(([^)\s]+)\)/g)
  return [...links].map(([, link]) => link!).filter((link) => !/^[a-z]+:/.test(link))
}

/** As the usual renderers make them: lower case, spaces to hyphens, punctuation dropped. */
function anchorsOf(page: string): readonly string[] {
  const headings = prose(page).matchAll(/^#+ (.+)$/gm)
  return [...headings].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function prose(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```[^]*?^```$/gm, '')
}
