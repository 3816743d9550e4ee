/** Data in the page, as a user does it: look, sort, filter, insert, edit, copy, delete, conflicts, wrong input. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { TestServer } from '../../support/server.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { company } from './company.ts'
import { site } from './visit.ts'

onEveryStore(() => {
  const { server, visit } = site(company)

  test('data: entities are listed with the number of their documents, and lead to their tables', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('')
    await page.getByRole('link', { name: 'employee 12' }).click()
    await row(page, 'Ann').waitFor()
    assert.equal(await page.getByRole('grid').getAttribute('aria-rowcount'), '13')
    assert.match(page.url(), /#\/data\/employee$/)
  })

  test('data: a click on a column sorts, the next one turns the order, and the address keeps it', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee')
    await page.getByRole('button', { name: 'name', exact: true }).click()
    await first(page, 'Ann')
    await page.getByRole('button', { name: 'name', exact: false }).first().click()
    await first(page, 'Lea')
    assert.match(page.url(), /sort=-name/)
    await page.reload()
    await first(page, 'Lea')
  })

  test('data: a condition of the builder filters, and a wrong filter says what is wrong', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee')
    await page.getByRole('button', { name: 'Condition' }).click()
    const builder = page.getByRole('form', { name: 'Add a condition' })
    await builder.getByLabel('Field').selectOption('city')
    await builder.getByLabel('Value').fill('Genf')
    await builder.getByRole('button', { name: 'Add' }).click()
    await page.getByText('2 documents', { exact: true }).waitFor()
    const box = page.getByRole('combobox', { name: 'Filter' })
    await box.fill('{"field":"nothing","op":"=","rvalue":1}')
    await box.press('Enter')
    await page.getByRole('alert').filter({ hasText: 'nothing' }).waitFor()
    await box.fill('{"field":')
    await page.getByRole('alert').filter({ hasText: 'not valid JSON' }).waitFor()
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await page.getByText('12 documents').waitFor()
  })

  test('data: a document is inserted, edited, copied and deleted, and a delete is undone', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee?as=hr&who=ann')
    await page.getByRole('button', { name: 'Insert' }).click()
    const panel = page.getByRole('complementary', { name: 'New employee' })
    await panel.getByLabel('_id').fill('m')
    await panel.getByLabel('name', { exact: true }).fill('Mia')
    await panel.getByLabel('salary').fill('7100.50')
    await panel.getByRole('button', { name: 'Add to skills' }).click()
    await panel.getByRole('textbox', { name: 'skills 1' }).fill('<b>bold</b>')
    await panel.getByRole('button', { name: 'Insert' }).click()
    await page.getByText('Inserted.').waitFor()
    const stored = await server().ask('GET', '/data/find/employee?Q=_id:m', { roles: ['hr'] })
    assert.match(stored.text, /"salary":7100\.50[,}]/)
    const open1 = page.getByRole('complementary', { name: 'employee m' })
    await open1.getByLabel('name', { exact: true }).fill('Mia Muster')
    await open1.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    const edited = await server().ask('GET', '/data/find/employee?Q=_id:m', { roles: ['hr'] })
    assert.equal(edited.json.processed[0].name, 'Mia Muster')
    assert.match(edited.text, /"salary":7100\.50[,}]/)
    await open1.getByRole('button', { name: 'Copy' }).click()
    const copy = page.getByRole('complementary', { name: 'New employee' })
    await copy.getByLabel('_id').fill('m2')
    await copy.getByRole('button', { name: 'Insert' }).click()
    await page.getByText('14 documents').waitFor()
    const open2 = page.getByRole('complementary', { name: 'employee m2' })
    await open2.getByRole('button', { name: 'Delete' }).click()
    await open2.getByRole('button', { name: 'Really delete?' }).click()
    await page.getByText('13 documents').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('14 documents').waitFor()
    await removeBy(server().ask, ['m', 'm2'])
  })

  test('data: errors of the service stand at the fields that they belong to', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee?as=hr&doc=new')
    const panel = page.getByRole('complementary', { name: 'New employee' })
    await panel.getByLabel('salary').fill('much')
    await panel.getByRole('button', { name: 'Add to jobs' }).click()
    await panel.getByLabel('years').fill('1.5')
    await panel.getByRole('button', { name: 'Insert' }).click()
    for (const [label, said] of [
      ['salary', /bigdecimal/],
      ['name', /is required/],
      ['title', /is required/],
      ['years', /integer/],
    ] as const) {
      const field = panel.getByLabel(label, { exact: true })
      await panel.getByText(said).first().waitFor()
      assert.equal(await field.getAttribute('aria-invalid'), 'true', label)
      const described = await field.getAttribute('aria-describedby')
      assert.match(await page.locator(`[id="${described}"]`).innerText(), said, label)
    }
    assert.equal(await panel.getByLabel('salary').inputValue(), 'much')
  })

  test('data: a change of somebody else is shown beside mine, and one of both is chosen', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee?as=hr&doc="2"')
    const panel = page.getByRole('complementary', { name: 'employee 2' })
    await panel.getByLabel('city').fill('Olten')
    const update = { query: { field: '_id', op: '=', rvalue: '2' }, update: { $set: { city: 'Chur' } } }
    await server().ask('POST', '/data/update/employee', { body: update, roles: ['hr'] })
    await panel.getByRole('button', { name: 'Save' }).click()
    const conflict = panel.getByRole('alert').filter({ hasText: 'Somebody changed' })
    await conflict.getByRole('row', { name: 'city Chur Olten' }).waitFor()
    await conflict.getByRole('button', { name: 'Save yours over it' }).click()
    await page.getByText('Saved.').waitFor()
    const stored = await server().ask('GET', '/data/find/employee?Q=_id:2')
    assert.equal(stored.json.processed[0].city, 'Olten')
    await panel.getByLabel('city').fill('Basel')
    await panel.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
  })

  test('data: two tabs edit one document, and the connection is lost and found; nothing is lost', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee?as=hr&doc="7"')
    const other = await page.context().newPage()
    await other.goto(page.url())
    const [mine, theirs] = [page, other].map((tab) => tab.getByRole('complementary', { name: 'employee 7' }))
    await mine!.getByLabel('city').fill('Visp')
    await theirs!.getByLabel('city').fill('Brig')
    await theirs!.getByLabel('salary').fill('1.10')
    await mine!.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    await theirs!.getByRole('button', { name: 'Save' }).click()
    const conflict = theirs!.getByRole('alert').filter({ hasText: 'Somebody changed' })
    await conflict.getByRole('row', { name: 'city Visp Brig' }).waitFor()
    await conflict.getByRole('row', { name: 'salary 5600 1.10' }).waitFor()
    await conflict.getByRole('button', { name: 'Discard yours' }).click()
    await conflict.waitFor({ state: 'detached' })
    assert.equal(await theirs!.getByLabel('city').inputValue(), 'Visp')
    await theirs!.getByLabel('city').fill('Sitten')
    await page.context().setOffline(true)
    await theirs!.getByRole('button', { name: 'Save' }).click()
    await theirs!.getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor()
    assert.equal(await theirs!.getByLabel('city').inputValue(), 'Sitten')
    await page.context().setOffline(false)
    await theirs!.getByRole('button', { name: 'Save' }).click()
    await other.getByText('Saved.').waitFor()
    const stored = await server().ask('GET', '/data/find/employee?Q=_id:7', { roles: ['hr'] })
    assert.equal(stored.json.processed[0].city, 'Sitten')
    assert.match(stored.text, /"salary":5600[,}]/)
    await other.close()
  })

  test('data: the document can be written as JSON, with every digit', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee?as=hr&doc=new')
    const panel = page.getByRole('complementary', { name: 'New employee' })
    await panel.getByRole('tab', { name: 'JSON' }).click()
    const editor = panel.getByRole('textbox', { name: 'Document as JSON' })
    await editor.fill('{"_id": "j", "name": "Jo", "salary": 123456789012345678901234567890.10}')
    await panel.getByText('"Jo"').waitFor()
    await panel.getByRole('button', { name: 'Insert' }).click()
    await page.getByText('Inserted.').waitFor()
    const stored = await server().ask('GET', '/data/find/employee?Q=_id:j', { roles: ['hr'] })
    assert.match(stored.text, /"salary":123456789012345678901234567890\.10[,}]/)
    await removeBy(server().ask, ['j'])
  })

  test('data: without the role, writing is refused and nothing is lost', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee?doc="3"')
    const panel = page.getByRole('complementary', { name: 'employee 3' })
    await panel.getByLabel('city').fill('Thun')
    await panel.getByRole('button', { name: 'Save' }).click()
    await panel.getByRole('alert').filter({ hasText: 'crud:NoAccess' }).waitFor()
    assert.equal(await panel.getByLabel('city').inputValue(), 'Thun')
  })

  test('data: a reference leads to the document that it joins', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee?doc="1"')
    await page.getByRole('tab', { name: 'References' }).click()
    await page.getByRole('link', { name: /Blue team/ }).click()
    await page.getByRole('complementary', { name: 'team blue' }).waitFor()
    assert.equal(await page.getByRole('textbox', { name: 'title' }).inputValue(), 'Blue team')
  })

  test('data: the table is used by the keyboard alone', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee?sort=_id')
    await row(page, 'Ann').waitFor()
    await page.getByRole('grid').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('complementary', { name: /^employee/ }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('complementary', { name: /^employee/ }).waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.locator('.palette input:focus').waitFor()
    await page.keyboard.type('team')
    await page.getByRole('option', { name: 'team' }).first().waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'team', level: 1 }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor()
  })
})

function row(page: Page, name: string) {
  return page.getByRole('row').filter({ has: page.getByRole('gridcell', { name, exact: true }) })
}

/** Waits until the first row of the table holds the text. */
async function first(page: Page, name: string): Promise<void> {
  await page.locator('#row-0').filter({ hasText: name }).waitFor()
}

async function removeBy(ask: TestServer['ask'], ids: readonly string[]): Promise<void> {
  const body = { query: { field: '_id', op: '$in', values: [...ids] } }
  const answer = await ask('POST', '/data/delete/employee', { body, roles: ['hr'] })
  assert.equal(answer.json.modifiedCount, ids.length, answer.text)
}
