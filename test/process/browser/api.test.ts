/** Operations that are tried in the page: sent as the service takes them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { company } from './company.ts'
import { site } from './visit.ts'

void suite('api', () => {
  const { visit } = site(company)

  test('api: an import is sent as NDJSON, and shown so as curl', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/api?as=hr&search=import')
    await page.getByRole('link', { name: '/data/import/{entity} POST' }).click()
    // until the entities are known it is an input, which has no options
    await page.getByRole('combobox', { name: 'entity' }).selectOption('team')
    const curl = page.getByLabel('As curl').filter({ hasText: '/data/import/team' })
    assert.match(await curl.innerText(), /-H 'Content-Type: application\/x-ndjson'/)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByLabel('Answer').filter({ hasText: '"last"' }).waitFor()
  })

  test('api: a body is typed over several lines, within the policy of the page', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/api/findDefault?as=hr')
    await page.getByRole('textbox', { name: 'Body' }).click()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('{"query": 7')
    await page.getByLabel('As curl').filter({ hasText: `--json '{"query": 7}'` }).waitFor()
  })
})
