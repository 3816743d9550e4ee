/** Slow requests in the status view: listed without values, sorted, explained; an empty list and a missing right say so. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { startTestServer } from '../../support/server.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { company } from './company.ts'
import { tokenAuthentication } from './token-authentication.ts'
import { site, visitSite } from './visit.ts'

onEveryStore(() => {
  void suite('slow', () => {
    const { server, visit } = site(company, { limits: { slowRequestMs: 0 } })

    test('status: slow requests are listed newest first, sorted by duration, and lead to Explain', async () => {
      await using visited = await visit()
      const { page, open } = visited
      await open('#/status')
      const list = page.getByRole('region', { name: 'Slow requests' })
      await list.waitFor()
      for (const rvalue of ['Bern', 'Basel'])
        await server().ask('POST', '/data/find/employee', {
          body: {
            query: { field: 'city', op: '=', rvalue },
            projection: { field: 'name' },
            sort: { born: '$desc' },
          },
        })
      const row = list.getByRole('row').filter({ hasText: 'city = ?' })
      await row.nth(1).waitFor()
      assert.match(
        await row.first().innerText(),
        /ms\s+find\s+employee 1\.0\.0\s+city = \? by born desc\s+city\s/,
      )
      assert.equal(await list.getByText('Basel').count(), 0, 'no value')
      const rows = list.locator('tbody tr')
      const times = await rows
        .locator('time')
        .evaluateAll((all) => all.map((each) => each.getAttribute('datetime')))
      assert.deepEqual(times, times.toSorted().toReversed())
      assert.equal(
        await list.getByRole('columnheader', { name: 'When' }).getAttribute('aria-sort'),
        'descending',
      )
      await list.getByRole('button', { name: 'Duration' }).focus()
      await page.keyboard.press('Enter')
      await list.locator('th[aria-sort="descending"]').filter({ hasText: 'Duration' }).waitFor()
      assert.match(page.url(), /slow=duration/)
      const durations = (await rows.locator('td:nth-child(2)').allInnerTexts()).map((text) =>
        Number(text.replaceAll(/\D/g, '')),
      )
      assert.deepEqual(
        durations,
        durations.toSorted((a, b) => b - a),
      )
      await row.first().getByRole('link', { name: 'Explain employee' }).click()
      await page.getByRole('dialog', { name: 'Explain the find of employee' }).waitFor()
      assert.match(page.url(), /#\/data\/employee\?.*explain=find/)
      await page.keyboard.press('Escape')
      await page.getByRole('gridcell', { name: 'Ann', exact: true }).waitFor()
      assert.doesNotMatch(page.url(), /explain/)
    })
  })

  void suite('none', () => {
    const { visit } = site(company, { limits: { slowRequestMs: 600_000 } })

    test('status: an empty list of slow requests says what it means', async () => {
      await using visited = await visit()
      const { page, open } = visited
      await open('#/status')
      await page.getByText('No request took 600000 ms or longer since this process started').waitFor()
      assert.equal(await page.getByRole('region', { name: 'Slow requests' }).count(), 0)
    })
  })
})

void suite('without the right', () => {
  test('status: without the permission the list says which one it needs', async () => {
    await using tokens = await tokenAuthentication()
    await using server = await startTestServer({ auth: tokens.auth, limits: { slowRequestMs: 0 } })
    await using visited = await visitSite(server.port)
    const { page, open } = visited
    await open('#/status')
    await page.getByLabel('Token').fill(tokens.token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('the permissions requests.inspect and metadata.find').waitFor()
    await page.getByRole('region', { name: 'Routes', exact: true }).waitFor()
  })
})
