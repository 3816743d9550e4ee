/** What the page promises in several views: completion, cycles, versions from versions, every operation, progress, addresses. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { company } from './company.ts'
import { type Visit, insert, site } from './visit.ts'

void suite('the page', () => {
  const { server, visit } = site(company)

  test('schemas: names and words are completed in JSON', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/schemas/+')
    await page.getByRole('tab', { name: 'JSON' }).click()
    const editor = page.getByRole('textbox', { name: 'Metadata as JSON' })
    await editor.fill('')
    await editor.press('Control+a')
    await page.keyboard.type('{"entityI')
    await choose(page, 'entityInfo')
    await page.keyboard.type('{"type": "bigde')
    await choose(page, 'bigdecimal')
    assert.equal(await editor.innerText(), '{"entityInfo": {"type": "bigdecimal"}}')
  })

  test('schemas: a cycle of references is marked in the graph', async () => {
    const { json } = await server().ask('GET', '/metadata/team/1.0.0')
    const version = { value: '1.1.0', changelog: 'members' }
    const members = {
      type: 'reference',
      entity: 'employee',
      query: { field: 'teamId', op: '=', rfield: '$parent._id' },
    }
    const answer = await server().ask('PUT', '/metadata/team/1.1.0', {
      body: {
        entityInfo: { ...json.entityInfo, defaultVersion: '1.1.0' },
        schema: { ...json.schema, version, fields: { ...json.schema.fields, members } },
      },
    })
    assert.equal(answer.status, 200, answer.text)
    await using visited = await visit()
    const { page, open } = visited
    await open('#/schemas')
    await page.getByText('A cycle is allowed').waitFor()
    const marked = page.getByRole('listitem').filter({ has: page.locator('.badge', { hasText: 'cycle' }) })
    assert.equal(await marked.count(), 1)
    assert.match(await marked.innerText(), /employee → team|team → employee/)
    assert.equal(await page.locator('.edge.cycle').count(), 1)
  })

  test('schemas: a new version is made from an old one', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/schemas/employee?tab=versions')
    await page
      .getByRole('row', { name: /^1\.0\.0/ })
      .getByRole('button', { name: 'New from this' })
      .click()
    const version = page.getByRole('textbox', { name: 'Version', exact: true }).first()
    await version.waitFor()
    assert.equal(await version.inputValue(), '1.1.0')
    await page.getByRole('group', { name: 'salary', exact: true }).waitFor()
  })

  test('api: every operation of the interface can be tried, and its command is copied', async () => {
    await using visited = await visit({ permissions: ['clipboard-read', 'clipboard-write'] })
    const { page, open } = visited
    await open('#/api')
    const list = page.locator('.entities li a')
    await list.first().waitFor()
    const { paths } = (await server().ask('GET', '/openapi.json')).json
    const ids = Object.values<Record<string, { operationId?: string }>>(paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ operationId }) => operationId ?? []),
    )
    const links = await list.evaluateAll((all) => all.map((each) => each.getAttribute('href')!))
    const listed = links.map((link) => decodeURIComponent(link.replace(/^#\/api\/|\?.*$/g, '')))
    assert.deepEqual(new Set(listed), new Set(ids))
    await open('#/api/version')
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    assert.match(await page.evaluate<string>('navigator.clipboard.readText()'), /^curl -sS .*\/version'/)
    assert.equal((await server().ask('GET', '/docs/guide/reference/query')).status, 200)
  })

  test('progress: what takes longer than a second says so; then it shows', async () => {
    await using visited = await visit()
    const { page, open } = visited
    const { release } = await hold(visited, '**/metadata/team/*')
    await open('#/schemas/team')
    await page.getByRole('status').getByText('…').waitFor()
    release()
    await page.getByRole('heading', { name: 'team', level: 1 }).waitFor()
  })

  test('progress: the editor shows when its code arrives after it was left and opened again', async () => {
    await using visited = await visit()
    const { page, open } = visited
    const editorCode = '**/json-editor-*.js'
    const { release } = await hold(visited, editorCode)
    await open('#/schemas/+')
    await page.getByRole('tab', { name: 'JSON' }).click()
    await page.getByText('Loading this part of the page').waitFor()
    await page.getByRole('tab', { name: 'Form' }).click()
    // effects run after the next frame: while the clock stands still, the tab is drawn and its effects wait
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 1000)
    await page.getByRole('tab', { name: 'JSON' }).click()
    await page.getByRole('tab', { name: 'JSON', selected: true }).waitFor()
    const arrived = page.waitForResponse(editorCode)
    release()
    await page.evaluate(`import('${(await arrived).url()}')`)
    await page.clock.resume()
    await page.getByRole('textbox', { name: 'Metadata as JSON' }).waitFor()
  })

  test('address: a link opens a view as it was left', async () => {
    await using visited = await visit()
    const { page, open } = visited
    const reopened = async (): Promise<void> => {
      // what playwright knows of the address comes later than the page changes it
      const hash = await page.evaluate<string>('location.hash')
      await open('#/data')
      await open(hash)
    }
    await open('#/schemas/employee?tab=access')
    await page.getByRole('button', { name: 'update', exact: true }).click()
    await reopened()
    await page.getByRole('region', { name: 'Who may update' }).waitFor()
    await open('#/schemas/+')
    await page.getByRole('tab', { name: 'JSON' }).click()
    await reopened()
    await page.getByRole('textbox', { name: 'Metadata as JSON' }).waitFor()
    await open('#/api')
    await page.getByRole('searchbox', { name: 'Find an operation' }).fill('saved search')
    await reopened()
    assert.equal(
      await page.getByRole('searchbox', { name: 'Find an operation' }).inputValue(),
      'saved search',
    )
    await open('#/data/employee')
    await page.getByRole('button', { name: 'Explain' }).click()
    await page.getByRole('tab', { name: 'curl' }).click()
    await reopened()
    await page.getByRole('tab', { name: 'curl', selected: true }).waitFor()
  })

  test('address: one with an _id that is no JSON is read as text', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee?as=hr&doc=new&from={"')
    await page.getByText('No such document').waitFor()
  })

  test('history: a change that is saved while it is shown is listed', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee?as=hr&doc="3"')
    await page.getByRole('textbox', { name: 'city' }).fill('Olten')
    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByRole('listitem').filter({ hasText: 'insert' }).waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('listitem').filter({ hasText: 'Olten' }).waitFor()
  })

  test('table: of hundreds of columns only those near exist, each below its name', async () => {
    await using visited = await visit()
    const { page, open } = visited
    const names = Array.from({ length: 300 }, (_, i) => `f${i}`)
    const fields = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
    await server().define('wide', fields)
    await insert(server(), 'wide', [Object.fromEntries(names.map((name) => [name, `in ${name}`]))])
    await open(`#/data/wide?cols=${names.join(',')}`)
    await page.getByRole('gridcell', { name: 'in f0', exact: true }).waitFor()
    const near = await page.getByRole('gridcell').count()
    assert.ok(near < 60, `${near} cells`)
    await page.getByRole('columnheader', { name: 'f299' }).scrollIntoViewIfNeeded()
    const last = page.getByRole('gridcell', { name: 'in f299' })
    await last.waitFor()
    const head = page.getByRole('columnheader', { name: 'f299' })
    assert.equal((await last.boundingBox())?.x, (await head.boundingBox())?.x)
  })

  test('failure: a view that cannot be drawn says so, and the page goes on', async () => {
    await using visited = await visit()
    const { page, open } = visited
    const broken = { entityInfo: { name: 'team' } }
    await page.route('**/metadata/team/default', (route) => route.fulfill({ json: broken }), { times: 1 })
    await open('#/data/team')
    await page.getByRole('heading', { name: 'This cannot be shown' }).waitFor()
    await page.getByRole('link', { name: 'Begin again' }).click()
    await page.getByRole('link', { name: /^team/ }).click()
    await page.getByRole('gridcell', { name: 'Blue team' }).waitFor()
  })

  test('shortcuts: every one is listed, and g with a letter goes to a view', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data')
    await page.getByRole('link', { name: /employee 12/ }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('t')
    await page.getByRole('heading', { name: 'Status', level: 1 }).waitFor()
    await page.keyboard.press('?')
    const dialog = page.getByRole('dialog', { name: 'Shortcuts' })
    for (const label of ['Go to Data', 'Go to Schemas', 'Go to Events', 'Go to Status', 'Go to API'])
      await dialog.getByText(label).waitFor()
  })
})

/** Requests for the address wait until they are released. */
async function hold({ page }: Visit, address: string): Promise<{ readonly release: () => void }> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    await promise
    await route.continue()
  })
  return { release: resolve }
}

/** The editor ignores a click while it still looks for options, so a click that had no effect is repeated. */
async function choose(page: Visit['page'], name: string): Promise<void> {
  const option = page.getByRole('option', { name })
  await option.click()
  while (await option.isVisible()) await option.click({ timeout: 1_000 }).catch(() => undefined)
}
