/** Answers that come after the question changed: they are not shown, and lead to no write of what nobody looked at. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { company } from './company.ts'
import { site } from './visit.ts'

void suite('late answers', () => {
  const { visit } = site(company)

  test('bulk edit: a preview is not shown for a value that was typed after it was asked for', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee?as=hr')
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit documents of employee' })
    await dialog.getByLabel('Field').selectOption('city')
    await dialog.getByRole('textbox', { name: 'Value' }).fill('Olten')
    const release = await held(page, '**/data/update/**')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByRole('button', { name: 'Preview' }).and(page.locator(':disabled')).waitFor()
    await dialog.getByRole('textbox', { name: 'Value' }).fill('Chur')
    release()
    await dialog.getByRole('button', { name: 'Preview' }).and(page.locator(':enabled')).waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Change' }).count(), 0)
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByRole('button', { name: 'Change 12 documents' }).waitFor()
  })

  test('bulk edit: going back to another filter takes the preview away', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee?as=hr')
    const box = page.getByRole('combobox', { name: 'Filter' })
    await box.fill('city = "Genf"')
    await box.press('Enter')
    await page.getByText('2 documents', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit documents of employee' })
    await dialog.getByLabel('Field').selectOption('city')
    await dialog.getByRole('textbox', { name: 'Value' }).fill('Olten')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByRole('button', { name: 'Change 2 documents' }).waitFor()
    await page.goBack()
    await dialog.getByText('all 12 that match the filter').waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Change' }).count(), 0)
  })

  test('metadata: a check of an earlier text does not let the later one be saved', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/schemas/team?tab=new')
    await page.getByLabel('What changes').fill('one')
    const release = await held(page, '**/metadata/team/**')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByRole('button', { name: 'Working…' }).waitFor()
    await page.getByLabel('What changes').fill('another')
    release()
    await page.getByRole('button', { name: 'Check' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0)
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByRole('button', { name: 'Save' }).waitFor()
  })

  test('dialog: text that is selected beyond its edge does not close it', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee')
    await page.getByRole('button', { name: /View as/ }).click()
    const name = page.getByLabel('Name of the caller')
    await name.fill('ann')
    const { x, y, height } = (await name.boundingBox())!
    await page.mouse.move(x + 40, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(5, y + height / 2)
    await page.mouse.up()
    await page.getByRole('button', { name: 'View', exact: true }).click()
    await page.getByRole('button', { name: 'View as “ann”' }).waitFor()
    // a click beside it still closes
    await page.getByRole('button', { name: /View as/ }).click()
    await name.waitFor()
    await page.mouse.click(5, y)
    await name.waitFor({ state: 'detached' })
  })
})

/** Holds requests of this address back, until what is returned is called. */
async function held(page: Page, address: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    await promise
    await route.continue()
  })
  return resolve
}
