/** Work that is not saved: whichever way the user leaves it, it is there again when they come back. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { startTestServer } from '../../support/server.ts'
import { company } from './company.ts'
import { tokenAuthentication } from './token-authentication.ts'
import { type Visit, site, visitSite } from './visit.ts'

void suite('unsaved work', () => {
  const { server, visit } = site(company)
  const write = async ($set: Readonly<Record<string, string>>): Promise<void> => {
    const body = { query: { field: '_id', op: '=', rvalue: '4' }, update: { $set } }
    const written = await server().ask('POST', '/data/update/employee', { body, roles: ['hr'] })
    assert.equal(written.json.modifiedCount, 1, written.text)
  }

  for (const [way, leave] of [
    ['another row', (page: Page) => page.getByRole('gridcell', { name: 'Bob', exact: true }).click()],
    ['Escape', (page: Page) => page.keyboard.press('Escape')],
    ['another view', (page: Page) => page.getByRole('link', { name: 'Status' }).click()],
    ['the back button', (page: Page) => page.goBack()],
  ] as const) {
    test(`unsaved: a document is left by ${way}, and its changes are there again`, async () => {
      await using visited = await visit()
      const { page, open } = visited
      await open('#/data/employee?as=hr')
      await page.getByRole('gridcell', { name: 'Ann', exact: true }).click()
      const panel = page.getByRole('complementary', { name: 'employee 1' })
      await panel.getByLabel('city').fill('Olten')
      await panel.getByRole('button', { name: 'Save' }).and(page.locator(':enabled')).waitFor()
      await leave(page)
      await panel.waitFor({ state: 'detached' })
      await page.getByText('The changes of employee 1 are not saved.').waitFor()
      await page.getByRole('button', { name: 'Go back' }).click()
      await panel.getByText('changes that you did not save').waitFor()
      assert.equal(await panel.getByLabel('city').inputValue(), 'Olten')
      await panel.getByRole('button', { name: 'Discard them' }).click()
      await panel.getByRole('button', { name: 'Save' }).and(page.locator(':disabled')).waitFor()
      assert.equal(await panel.getByLabel('city').inputValue(), 'Bern')
    })
  }

  test('unsaved: metadata is left by another tab or version, and its changes are there again', async () => {
    await using visited = await visit()
    const { page, open } = visited
    const changes = page.getByLabel('What changes')
    await open('#/schemas/employee?tab=new')
    await changes.fill('long work')
    await page.getByRole('tab', { name: 'Access' }).click()
    await page.getByText('The changes of employee 1.1.0 are not saved.').waitFor()
    await page.getByRole('button', { name: 'Go back' }).click()
    await page.getByText('changes that you did not save').waitFor()
    assert.equal(await changes.inputValue(), 'long work')
    await page.getByRole('button', { name: 'Discard them' }).click()
    assert.equal(await changes.inputValue(), 'what changes')
    // what is saved is not kept
    await changes.fill('a better one')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved employee 1.1.0.').waitFor()
    assert.equal(await page.getByText('are not saved').count(), 0)
    await page.getByRole('tab', { name: 'Edit' }).click()
    await changes.fill('long work')
    await page.getByRole('combobox', { name: /^Version/ }).selectOption('1.0.0')
    await page.getByRole('button', { name: 'Go back' }).click()
    await page.getByText('changes that you did not save').waitFor()
    assert.equal(await changes.inputValue(), 'long work')
  })

  for (const [choice, city] of [
    ['Save yours over it', 'Olten'],
    ['Discard yours', 'Chur'],
  ] as const) {
    test(`unsaved: a document is left and changed by somebody else: a conflict, ${choice}`, async () => {
      await write({ city: 'Bern' })
      await using visited = await visit()
      const { page } = visited
      const panel = await changeAndLeave(visited, 'city', 'Olten')
      const save = panel.getByRole('button', { name: 'Save', exact: true })
      await write({ city: 'Chur' })
      await page.getByRole('button', { name: 'Go back' }).click()
      await panel.getByText('changes that you did not save').waitFor()
      assert.equal(await panel.getByLabel('city').inputValue(), 'Olten')
      await save.click()
      const conflict = panel.getByRole('alert').filter({ hasText: 'Somebody changed' })
      await conflict.getByRole('row', { name: 'city Chur Olten' }).waitFor()
      await conflict.getByRole('button', { name: choice }).click()
      await conflict.waitFor({ state: 'detached' })
      await save.and(page.locator(':disabled')).waitFor()
      assert.equal(await panel.getByLabel('city').inputValue(), city)
      const stored = await server().ask('GET', '/data/find/employee?Q=_id:4')
      assert.equal(stored.json.processed[0].city, city)
      // the editor goes on with what is stored, and what is typed next is kept as well
      await panel.getByLabel('city').fill('Visp')
      await save.and(page.locator(':enabled')).waitFor()
      await panel.getByRole('button', { name: 'Close the document' }).click()
      await page.getByRole('button', { name: 'Go back' }).click()
      await panel.getByText('changes that you did not save').waitFor()
      await save.click()
      await page.getByText('Saved.').waitFor()
    })
  }

  test('unsaved: changes that somebody else overtook can be discarded for what is stored', async () => {
    await write({ city: 'Bern' })
    await using visited = await visit()
    const { page } = visited
    const panel = await changeAndLeave(visited, 'city', 'Olten')
    await write({ city: 'Chur' })
    await page.getByRole('button', { name: 'Go back' }).click()
    await panel.getByRole('button', { name: 'Discard them' }).click()
    await panel.getByText('changes that you did not save').waitFor({ state: 'detached' })
    assert.equal(await panel.getByLabel('city').inputValue(), 'Chur')
  })

  test('unsaved: changes are not shown to another caller, and are there again for the one who made them', async () => {
    await write({ city: 'Bern' })
    await using visited = await visit()
    const { page, open } = visited
    const panel = await changeAndLeave(visited, 'salary', '1.10')
    await panel.waitFor({ state: 'detached' })
    await open('#/data/employee?as=guest&doc="4"')
    await page.getByRole('button', { name: 'View as guest' }).waitFor()
    await panel.getByLabel('city').waitFor()
    assert.equal(await panel.getByText('changes that you did not save').count(), 0)
    await open('#/data/employee?as=hr&doc="4"')
    await panel.getByText('changes that you did not save').waitFor()
    assert.equal(await panel.getByLabel('salary').inputValue(), '1.10')
  })

  test('unsaved: metadata is left and changed by somebody else, and the changes say so', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/schemas/team?tab=new')
    const changes = page.getByLabel('What changes')
    await changes.fill('long work')
    await page.getByRole('link', { name: 'Status' }).click()
    await page.getByText('The changes of team 1.1.0 are not saved.').waitFor()
    const info = { name: 'team', defaultVersion: '1.0.0', history: true }
    const put = await server().ask('PUT', '/metadata/team', { body: info })
    assert.equal(put.status, 200, put.text)
    await page.getByRole('button', { name: 'Go back' }).click()
    await page.getByText('The metadata has changed since').waitFor()
    assert.equal(await changes.inputValue(), 'long work')
    await page.getByRole('button', { name: 'Discard them' }).click()
    await page.getByText('changes that you did not save').waitFor({ state: 'detached' })
    assert.equal(await changes.inputValue(), 'what changes')
  })

  test('unsaved: the browser asks before the page is closed, also after a document with changes was left', async () => {
    await using visited = await visit()
    const { page } = visited
    const panel = await changeAndLeave(visited, 'city', 'Olten')
    await page.getByRole('button', { name: 'Go back' }).waitFor()
    const [question] = await Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })])
    assert.equal(question.type(), 'beforeunload')
    await question.dismiss()
    await page.getByRole('button', { name: 'Go back' }).click()
    await panel.getByRole('button', { name: 'Discard them' }).click()
    await panel.getByRole('button', { name: 'Save', exact: true }).and(page.locator(':disabled')).waitFor()
    const closed = page.waitForEvent('close')
    await page.close({ runBeforeUnload: true })
    await closed
  })

  test('unsaved: a token expires while a document is written, and nothing is lost', async () => {
    await using tokens = await tokenAuthentication()
    await using server = await startTestServer({ auth: tokens.auth })
    await using visited = await visitSite(server.port)
    const { page, open } = visited
    await open('#/data/savedSearch')
    await page.getByLabel('Token').fill(tokens.token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Insert', exact: true }).click()
    const panel = page.getByRole('complementary', { name: 'New savedSearch' })
    await panel.getByLabel('name', { exact: true }).fill('long work')
    // the service refuses the token once
    await page.route('**/data/insert/**', (route) => route.fulfill({ status: 401, body: '{}' }), { times: 1 })
    await panel.getByRole('button', { name: 'Insert' }).click()
    await page.getByText('The token is no longer valid').waitFor()
    await page.getByLabel('Token').fill(tokens.token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await panel.getByText('changes that you did not save').waitFor()
    assert.equal(await panel.getByLabel('name', { exact: true }).inputValue(), 'long work')
    // who signs out leaves nothing behind
    await page.getByRole('button', { name: /View as/ }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token').fill(tokens.token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await panel.getByLabel('name', { exact: true }).waitFor()
    assert.equal(await panel.getByLabel('name', { exact: true }).inputValue(), '')
  })
})

/** Opens an employee, changes a field, and closes the document without saving it. */
async function changeAndLeave({ page, open }: Visit, label: string, value: string): Promise<Locator> {
  await open('#/data/employee?as=hr&doc="4"')
  const panel = page.getByRole('complementary', { name: 'employee 4' })
  await panel.getByLabel(label).fill(value)
  await panel.getByRole('button', { name: 'Save', exact: true }).and(page.locator(':enabled')).waitFor()
  await panel.getByRole('button', { name: 'Close the document' }).click()
  return panel
}
