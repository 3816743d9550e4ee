/** What somebody stored, or another page tries, does nothing in the page; and tokens. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite, test } from 'node:test'
import { tokenAuthentication } from './token-authentication.ts'
import { startTestServer } from '../../support/server.ts'
import { newContext } from '../../support/shared-chromium.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { company } from './company.ts'
import { insert, site, visitSite } from './visit.ts'

const EVIL = [
  '<script>document.title="owned"</script>',
  '<img src=x onerror="document.title=\'owned\'">',
  '"><svg onload=alert(1)>',
  'javascript:alert(1)',
  '{{constructor.constructor("alert(1)")()}}',
  'a\u202Egnp.exe',
  'zero\u200Bwidth\u0007bell',
  'عربي ثم English',
  'x'.repeat(20_000),
]

onEveryStore(() => {
  const { server, visit } = site(async (server) => {
    await server.define('evil', { text: { type: 'string' }, any: { type: 'any' } }, {})
    await insert(
      server,
      'evil',
      EVIL.map((text, i) => ({ _id: `${i}<b>`, text, any: { [text.slice(0, 50)]: text } })),
    )
  })

  test('stored values: markup, scripts, long and invisible text are shown as text', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/evil?sort=_id')
    await page.getByRole('gridcell', { name: EVIL[0]!, exact: true }).waitFor()
    const grid = page.getByRole('grid')
    assert.equal(await grid.locator('script, img, b, svg:not(.icon)').count(), 0)
    await page.getByText('U+202E').first().waitFor()
    await page.getByText('U+200B').first().waitFor()
    await page.getByText('U+0007').first().waitFor()
    for (const i of EVIL.keys()) {
      await open(`#/data/evil?doc=${encodeURIComponent(JSON.stringify(`${i}<b>`))}`)
      const field = page.locator('[id="field-text"]')
      await field.waitFor()
      assert.equal(await field.inputValue(), EVIL[i]!.replaceAll('\u0007', '\u0007'))
    }
    assert.notEqual(await page.title(), 'owned')
    assert.deepEqual(server().faults(), [])
  })
})

void suite('tokens and other pages', () => {
  test('token: it is asked for, kept in this tab only, and asked for again when it is revoked', async () => {
    await using tokens = await tokenAuthentication()
    await using server = await startTestServer({ auth: tokens.auth })
    await using visited = await visitSite(server.port)
    const { page, open } = visited
    await open('#/data')
    await page.getByLabel('Token').fill('smalt_…')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').filter({ hasText: 'visible characters of ASCII only' }).waitFor()
    await page.getByLabel('Token').fill('smalt_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').filter({ hasNotText: 'ASCII' }).waitFor()
    await page.getByLabel('Token').fill(tokens.token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('link', { name: /savedSearch/ }).waitFor()
    assert.doesNotMatch(page.url(), /smalt_/)
    assert.equal(await page.evaluate('localStorage.getItem("smalt.token")'), null)
    const other = await page.context().newPage()
    await other.goto(page.url())
    await other.getByLabel('Token').waitFor()
    await tokens.revoke()
    await page.getByRole('link', { name: 'Schemas' }).click()
    await page.getByText('no longer valid').waitFor({ timeout: 20_000 })
  })

  test('other pages: none can frame the page, read its data, or use its session', async () => {
    await using server = await startTestServer()
    await company(server)
    await using context = await newContext()
    const html = `<iframe src="http://127.0.0.1:${server.port}/ui"></iframe>`
    const foreign = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(html))
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve))
    try {
      const page = await context.newPage()
      await page.goto(`http://localhost:${(foreign.address() as AddressInfo).port}/`)
      const frame = page.frames()[1]
      assert.equal((await frame?.content())?.includes('id="app"') ?? false, false)
      const outcome = await page.evaluate<string>(
        `fetch('http://127.0.0.1:${server.port}/data/find/employee', { method: 'POST', headers: { 'Content-Type': 'application/json', 'Smalt-Roles': 'hr' }, body: '{"projection":{"field":"*"}}' })
          .then(() => 'read', () => 'refused')`,
      )
      assert.equal(outcome, 'refused')
    } finally {
      foreign.close()
    }
  })
})
