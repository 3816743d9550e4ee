/** Conditions and times that are chosen in the page: the address says what was chosen. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { company } from './company.ts'
import { site } from './visit.ts'

void suite('filter builder', () => {
  const { visit } = site(company)

  test('builder: of a boolean, true and false can be chosen and nothing else', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee')
    await page.getByRole('button', { name: 'Condition' }).click()
    const builder = page.getByRole('form', { name: 'Add a condition' })
    await builder.getByLabel('Value').fill('yes')
    await builder.getByLabel('Field').selectOption('active')
    const value = builder.getByRole('combobox', { name: 'Value' })
    assert.deepEqual(await value.getByRole('option').allInnerTexts(), ['null', 'true', 'false'])
    await value.selectOption('true')
    await builder.getByRole('button', { name: 'Add' }).click()
    await page.getByText('9 documents', { exact: true }).waitFor()
  })

  for (const [pattern, filter] of [
    ['a/b', String.raw`city ~ /a\/b/`],
    [String.raw`a\/b`, String.raw`city ~ /a\/b/`],
    [String.raw`a\\/b`, String.raw`city ~ /a\\\/b/`],
  ] as const) {
    test(`builder: the pattern ${pattern} is written as a filter`, async () => {
      await using visited = await visit()
      const { page, open } = visited
      await open('#/data/employee')
      await page.getByRole('button', { name: 'Condition' }).click()
      const builder = page.getByRole('form', { name: 'Add a condition' })
      await builder.getByLabel('Field').selectOption('city')
      await builder.getByLabel('Operator').selectOption('matches')
      await builder.getByLabel('Value').fill(pattern)
      await builder.getByRole('button', { name: 'Add' }).click()
      await page.getByText('Nothing matches').waitFor()
      assert.equal(await page.getByRole('combobox', { name: 'Filter' }).inputValue(), filter)
    })
  }

  test('explain: the index that would help is named for a filter as text', async () => {
    await using visited = await visit()
    const { page, open } = visited
    const filter = 'level = "lead" and name != "Ann"'
    await open(`#/data/employee?explain=find&f=${encodeURIComponent(filter)}`)
    const dialog = page.getByRole('dialog', { name: 'Explain the find of employee' })
    await dialog.getByText('An index on level would help').waitFor()
  })

  test('view at: a date that does not exist is marked, and leaves the page as it is', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee?at=2026-13-01T00:00:00Z')
    await page.getByTitle('View at another time').click()
    const date = page.getByLabel('Date (RFC 3339)')
    assert.equal(await date.inputValue(), '2026-13-01T00:00:00Z')
    assert.equal(await date.getAttribute('aria-invalid'), 'true')
  })
})
