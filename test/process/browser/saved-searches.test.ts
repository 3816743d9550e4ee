/** Saved searches in the page: in every form in which they can be stored, with their parameters and their sort. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { company } from './company.ts'
import { insert, site } from './visit.ts'

void suite('saved searches', () => {
  const { server, visit } = site(async (started) => {
    await company(started)
    await insert(started, 'savedSearch', [
      {
        name: 'by zip',
        entity: 'employee',
        parameters: [{ name: 'least', type: 'integer', optional: true, defaultValue: 3010 }],
        query: '{"field": "address.zip", "op": ">=", "rvalue": ${least}}',
        sort: { name: '$desc' },
      },
      {
        name: 'by city',
        entity: 'employee',
        parameters: [{ name: 'city', defaultValue: 'Bern' }],
        query: 'city = "${city}"',
      },
    ])
  })

  test('searches: a search that is stored as text is listed and run', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee')
    await page.getByRole('button', { name: 'Searches' }).click()
    const dialog = page.getByRole('dialog', { name: 'Saved searches of employee' })
    await dialog.getByRole('button', { name: 'by zip' }).click()
    assert.equal(await dialog.getByLabel('least').inputValue(), '3010')
    // the other one has values of its own
    await dialog.getByRole('button', { name: 'by city' }).click()
    await dialog.getByRole('textbox', { name: 'city' }).waitFor()
    assert.equal(await dialog.getByRole('textbox', { name: 'city' }).inputValue(), 'Bern')
    await dialog.getByRole('textbox', { name: 'city' }).fill('say "Genf"')
    await dialog.getByRole('button', { name: 'Run' }).click()
    await page.getByText('Nothing matches').waitFor()
    const box = page.getByRole('combobox', { name: 'Filter' })
    assert.equal(await box.inputValue(), String.raw`city = "say \"Genf\""`)
    await page.getByRole('button', { name: 'Searches' }).click()
    await dialog.getByRole('button', { name: 'by zip' }).click()
    // what is optional and left empty takes its default
    await dialog.getByLabel('least').fill('')
    await dialog.getByRole('button', { name: 'Run' }).click()
    await page.getByText('2 documents', { exact: true }).waitFor()
    // in its own order
    await page.locator('#row-0').filter({ hasText: 'Lea' }).waitFor()
  })

  test('searches: a filter as text is saved', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open(`#/data/employee?as=admin&f=${encodeURIComponent('city = "Genf"')}`)
    await page.getByText('2 documents', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Searches' }).click()
    await page.getByLabel('Save the current filter as').fill('in Geneva')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'in Geneva' }).waitFor()
    const found = await server().ask('GET', '/data/search/employee/1.0.0/in%20Geneva')
    assert.equal(found.json.matchCount, 2, found.text)
  })
})
