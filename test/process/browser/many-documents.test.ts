/** Many documents at once, as a user does it: a bulk edit with its preview, and the import of a file. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEveryStore } from '../../support/store-kind.ts'
import { company } from './company.ts'
import { site } from './visit.ts'

onEveryStore(() => {
  const { server, visit } = site(company)
  const asked = (path: string) => server().ask('GET', `/data/find/employee?${path}`, { roles: ['hr'] })

  test('bulk edit: a preview writes nothing and names what would fail; then the documents change', async () => {
    await using visited = await visit()
    const { page, open } = visited
    const filter = encodeURIComponent('{"field":"city","op":"=","rvalue":"Bern"}')
    await open(`#/data/employee?as=hr&f=${filter}`)
    await page.getByText('3 documents').waitFor()
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit documents of employee' })
    const first = dialog.getByRole('group', { name: 'Change 1' })
    await first.getByRole('combobox', { name: 'Field' }).selectOption('name')
    await first.getByRole('textbox', { name: 'Value' }).fill('x'.repeat(41))
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByText('0 of 3 would change, 3 would fail').waitFor()
    await first.getByRole('combobox', { name: 'Field' }).selectOption('salary')
    await first.getByRole('combobox', { name: 'Change' }).selectOption('add')
    await first.getByRole('textbox', { name: 'Value' }).fill('100.05')
    await dialog.getByRole('button', { name: 'Another field' }).click()
    const second = dialog.getByRole('group', { name: 'Change 2' })
    await second.getByRole('combobox', { name: 'Field' }).selectOption('level')
    await second.getByRole('combobox', { name: 'Change' }).selectOption('remove')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByText('3 of 3 would change').waitFor()
    await dialog.getByRole('row', { name: '1 5000 5100.05 lead' }).waitFor()
    assert.match((await asked('Q=_id:1')).text, /"salary":5000[,}]/)
    await dialog.getByRole('button', { name: 'Change 3 documents' }).click()
    await page.getByText('Changed 3 documents.').waitFor()
    const changed = await asked('Q=_id:1')
    assert.match(changed.text, /"salary":5100\.05[,}]/)
    assert.equal('level' in changed.json.processed[0], false)
    assert.match((await asked('Q=_id:2')).text, /"salary":5100[,}]/)
  })

  test('bulk edit: selected documents change only as they were seen', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee?as=hr&sort=_id')
    for (const id of ['2', '3'])
      await page.getByRole('checkbox', { name: `Select ${id}`, exact: true }).check()
    const update = { query: { field: '_id', op: '=', rvalue: '3' }, update: { $set: { city: 'Chur' } } }
    await server().ask('POST', '/data/update/employee', { body: update, roles: ['hr'] })
    await page.getByRole('button', { name: 'Edit 2' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit documents of employee' })
    await dialog.getByRole('combobox', { name: 'Field' }).selectOption('city')
    await dialog.getByRole('textbox', { name: 'Value' }).fill('Aarau')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByText('1 would fail').waitFor()
    await dialog.getByRole('button', { name: 'Change 1 document' }).click()
    await page.getByText('Changed 1 document; 1 document failed').waitFor()
    assert.equal((await asked('Q=_id:2')).json.processed[0].city, 'Aarau')
    assert.equal((await asked('Q=_id:3')).json.processed[0].city, 'Chur')
  })

  test('import: a dropped file is stored, and rejected lines are named', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/team?as=hr')
    await page.getByText('2 documents').waitFor()
    const drop = async (name: string, text: string): Promise<void> => {
      const dataTransfer = await page.evaluateHandle(`(() => {
        const transfer = new DataTransfer()
        transfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}))
        return transfer
      })()`)
      for (const type of ['dragover', 'drop']) {
        await page.locator('.sheet').dispatchEvent(type, { dataTransfer })
      }
    }
    await drop('teams.csv', '_id,title,budget\ngreen,"Green\nteam",10.50\nblue,again,1\nold,Old,much\n')
    const dialog = page.getByRole('dialog', { name: 'Import into team' })
    await dialog.getByText('teams.csv').waitFor()
    await dialog.getByRole('button', { name: 'Import', exact: true }).click()
    await dialog.getByText('1 stored, 2 rejected.').waitFor()
    await dialog.getByRole('row', { name: /^4 .*store-crud:Duplicate/ }).waitFor()
    await dialog.getByRole('row', { name: /^5 .*budget/ }).waitFor()
    const stored = await server().ask('GET', '/data/find/team?Q=_id:green', { roles: ['hr'] })
    assert.match(stored.text, /"budget":10\.50[,}]/)
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByText('3 documents').waitFor()

    await drop('array.json', '[{"_id":"x"}]')
    await dialog.getByRole('button', { name: 'Import', exact: true }).click()
    await dialog.getByRole('alert').filter({ hasText: 'JSON array' }).waitFor()
    await dialog.getByLabel(/^File of CSV/).setInputFiles({
      name: 'teams.ndjson',
      mimeType: 'application/x-ndjson',
      buffer: Buffer.from('{"_id":"blue","title":"Bluer"}\n{"_id":"new","title":"New"}\n{"_id":\n'),
    })
    // what became of the file before is not said of this one
    await dialog.getByText('teams.ndjson').waitFor()
    assert.equal(await dialog.getByText('stored').count(), 0)
    assert.equal(await dialog.getByRole('alert').count(), 0)
    await dialog.getByRole('checkbox', { name: 'Replace documents' }).check()
    await dialog.getByRole('button', { name: 'Import', exact: true }).click()
    await dialog.getByText('2 stored, 1 rejected.').waitFor()
    await dialog.getByRole('row', { name: /^3 / }).waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('gridcell', { name: 'Bluer' }).waitFor()
    await page.getByText('4 documents').waitFor()

    // more than one part: lines are those of the file
    const many = Array.from(
      { length: 12_000 },
      (_, i) => `{"_id":"n${i}","budget":${i === 11_500 ? '"x"' : i}}\n`,
    )
    await drop('many.jsonl', many.join(''))
    await dialog.getByRole('button', { name: 'Import', exact: true }).click()
    await dialog.getByText('11,999 stored, 1 rejected.').waitFor()
    await dialog.getByRole('row', { name: /^11501 .*budget/ }).waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByText('12,003 documents').waitFor()
  })
})
