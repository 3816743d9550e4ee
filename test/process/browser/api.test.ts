/** Operations that are tried in the page: sent as the service takes them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { company } from './company.ts'
import { site } from './visit.ts'

/** Operations whose bodies name fields or the entity; `sent` is a part of what is made for the entity `employee`. */
const BODIES: readonly {
  readonly operation: string
  readonly path?: Readonly<Record<string, string>>
  readonly sent: string
}[] = [
  { operation: 'findDefault', sent: '"field": "name"' },
  { operation: 'find', path: { version: '1.0.0' }, sent: '"field": "name"' },
  { operation: 'explainDefault', sent: '"field": "name"' },
  { operation: 'aggregateDefault', sent: '"count": {' },
  { operation: 'insertDefault', sent: '"name": "example"' },
  { operation: 'saveDefault', sent: '"name": "example"' },
  { operation: 'updateDefault', sent: '"name": "example"' },
  { operation: 'deleteDefault', sent: '"rvalue": "example"' },
  { operation: 'importDefault', sent: '{"name":"example"}' },
  { operation: 'createDocument', sent: '"name": "example"' },
  { operation: 'patchDocument', path: { id: '1' }, sent: '"name": "example"' },
  { operation: 'updateEntityInfo', sent: '"name": "employee"' },
  { operation: 'createMetadata', path: { version: '1.1.0' }, sent: '"value": "1.1.0"' },
  { operation: 'createSchema', path: { version: '1.2.0' }, sent: '"value": "1.2.0"' },
]

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

  for (const { operation, path, sent } of BODIES) {
    test(`api: the body of ${operation} is made for the entity that is chosen, and the service takes it`, async () => {
      await using visited = await visit()
      const { page, open } = visited
      await open(`#/api/${operation}?as=hr`)
      await page.getByRole('combobox', { name: 'entity' }).selectOption('employee')
      for (const [name, value] of Object.entries(path ?? {}))
        await page.getByRole('textbox', { name: `${name} *` }).fill(value)
      const curl = page.getByLabel('As curl').filter({ hasText: sent })
      await curl.waitFor()
      assert.doesNotMatch(await curl.innerText(), /iso2Code|country/)
      await page.getByRole('button', { name: 'Send' }).click()
      const answer = page.locator('section', { has: page.getByRole('heading', { name: 'Answer' }) }).last()
      await answer.getByLabel('Answer').waitFor()
      const shown = await answer.innerText()
      assert.match(shown, /^Answer 20[01]/)
      assert.doesNotMatch(shown, /"status": "(?:ERROR|PARTIAL)"/)
    })
  }

  test('api: what was typed stays when an entity is chosen afterwards', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/api/findDefault?as=hr')
    await page.getByRole('textbox', { name: 'Body' }).click()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('{"projection": 7')
    const metadata = page.waitForResponse(/metadata\/team\/1/)
    await page.getByRole('combobox', { name: 'entity' }).selectOption('team')
    await metadata
    await page.locator('button[type=submit]:enabled').waitFor()
    await page.getByLabel('As curl').filter({ hasText: `--json '{"projection": 7}'` }).waitFor()
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
