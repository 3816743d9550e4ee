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
    await page.getByLabel('entity').selectOption('team')
    const curl = page.getByLabel('As curl').filter({ hasText: '/data/import/team' })
    assert.match(await curl.innerText(), /-H 'Content-Type: application\/x-ndjson'/)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByLabel('Answer').filter({ hasText: '"last"' }).waitFor()
  })
})
