/** What keeps people with disabilities from using the page, as far as axe-core finds it. */
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const { source } = createRequire(import.meta.url)('axe-core') as { readonly source: string }

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** One line for each violation: the rule, and the first element. */
export async function barriers(page: Page): Promise<readonly string[]> {
  // evaluated by the debugger, which the policy of the page does not concern
  if (!(await page.evaluate<boolean>('typeof axe === "object"'))) await page.evaluate(`${source}; undefined`)
  const options = JSON.stringify({ runOnly: { type: 'tag', values: TAGS }, resultTypes: ['violations'] })
  return await page.evaluate<string[]>(
    `axe.run(document, ${options}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes[0].html.slice(0, 200) + ' ' + (nodes[0].any[0] || nodes[0].all[0] || nodes[0].none[0] || {}).message))`,
  )
}
