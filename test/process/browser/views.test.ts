/** Access, time, schemas, events and status in the page, as a user looks at them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEveryStore } from '../../support/store-kind.ts'
import { company } from './company.ts'
import { site } from './visit.ts'

onEveryStore((kind) => {
  const { server, visit } = site(company)

  test('view as: fields vanish with the role, and the rule that hides one is named', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/employee?as=hr')
    await page.getByRole('gridcell', { name: '5100', exact: true }).waitFor()
    await page.getByRole('button', { name: /View as/ }).click()
    const dialog = page.getByRole('dialog', { name: 'View as' })
    await dialog.getByRole('checkbox', { name: 'hr' }).uncheck()
    await dialog.getByRole('button', { name: 'View', exact: true }).click()
    await page.getByRole('gridcell', { name: '5100', exact: true }).waitFor({ state: 'detached' })
    assert.doesNotMatch(await page.content(), /5100/)
    await page.getByRole('button', { name: 'salary' }).click()
    const reason = page.getByRole('dialog', { name: 'Why is salary hidden?' })
    await reason.getByText('/fields/salary/access/find').waitFor()
    await reason.getByText('deny').waitFor()
  })

  test('view as: documents vanish with the claims, and a name may have any letters', async () => {
    await using visited = await visit()
    const { page, open } = visited
    const where = { field: 'region', op: '$in', values: ['$caller.claims.regions'] }
    const access = { find: [{ role: 'regional', where }], insert: ['anyone'] }
    await server().define('shop', { region: { type: 'string' } }, { schema: { access } })
    const data = [{ region: 'Łódź' }, { region: 'Bern' }]
    await server().ask('PUT', '/data/insert/shop', { body: { data } })
    await open(`#/data/shop?as=regional&who=${encodeURIComponent('Łucja')}`)
    await page.getByText('No documents').waitFor()
    await page.getByRole('button', { name: /View as/ }).click()
    const dialog = page.getByRole('dialog', { name: 'View as' })
    await dialog.getByLabel('Claims, for row rules').fill('["Łódź"]')
    await dialog.getByRole('button', { name: 'View', exact: true }).click()
    await dialog.getByRole('alert').filter({ hasText: 'JSON object' }).waitFor()
    await dialog.getByLabel('Claims, for row rules').fill('{"regions": ["Łódź"]}')
    await dialog.getByRole('button', { name: 'View', exact: true }).click()
    await page.getByRole('gridcell', { name: 'Łódź' }).waitFor()
    await page.getByText('1 document', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Explain' }).click()
    await page.getByRole('tab', { name: 'curl' }).click()
    assert.match(await page.locator('dialog pre').innerText(), /-H 'Smalt-Claims: \{"regions": \["Łódź"\]\}'/)
  })

  test('view at: the table shows documents as they were, and the history who changed what', async () => {
    await using visited = await visit()
    const { page, open } = visited
    const at = new Date().toISOString()
    const body = { query: { field: '_id', op: '=', rvalue: '5' }, update: { $set: { city: 'Davos' } } }
    const headers = { 'Smalt-Principal': 'zoe' }
    await server().ask('POST', '/data/update/employee', { body, roles: ['hr'], headers })
    await open('#/data/employee')
    await page.getByRole('gridcell', { name: 'Davos' }).waitFor()
    await page.getByTitle('View at another time').click()
    await page.getByRole('textbox', { name: 'Date (RFC 3339)' }).fill(at)
    await page.getByRole('button', { name: 'Go', exact: true }).click()
    await page.getByText('As of').waitFor()
    await page.getByRole('gridcell', { name: 'Davos' }).waitFor({ state: 'detached' })
    await page.getByRole('gridcell', { name: 'Lugano' }).first().waitFor()
    await page.getByRole('button', { name: 'Back to now' }).click()
    await page.getByRole('gridcell', { name: 'Davos' }).click()
    await page.getByRole('tab', { name: 'History' }).click()
    const change = page.getByRole('listitem').filter({ hasText: 'by zoe' })
    await change.getByText('Lugano').waitFor()
    await change.getByText('Davos').waitFor()
  })

  test('explain: index or scan, the index that would help, and the request as curl', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open(`#/data/employee?f=${encodeURIComponent('{"field":"level","op":"=","rvalue":"lead"}')}`)
    await page.getByText('4 documents').waitFor()
    await page.getByRole('button', { name: 'Explain' }).click()
    const dialog = page.getByRole('dialog', { name: 'Explain the find of employee' })
    await dialog.getByText('SCAN', { exact: true }).waitFor()
    await dialog.getByText('An index on level would help').waitFor()
    await dialog.getByRole('tab', { name: 'curl' }).click()
    const text = await dialog.locator('pre').innerText()
    assert.match(text, /^curl -sS -X POST 'http:\/\/127\.0\.0\.1:\d+\/data\/find\/employee/)
    await dialog.getByRole('tab', { name: 'SQL' }).click()
    await dialog
      .getByText(/select/i)
      .first()
      .waitFor()
  })

  test('schemas: an entity is defined as JSON, an error stands where it belongs, and a version follows', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/schemas/+')
    await page.getByRole('tab', { name: 'JSON' }).click()
    const editor = page.getByRole('textbox', { name: 'Metadata as JSON' })
    const text = (type: string): string =>
      JSON.stringify({
        entityInfo: { name: 'planet', defaultVersion: '1.0.0' },
        schema: {
          name: 'planet',
          version: { value: '1.0.0', changelog: 'first' },
          status: { value: 'active' },
          access: { find: ['anyone'], insert: ['anyone'] },
          fields: { name: { type } },
        },
      })
    await editor.fill(text('strin'))
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByRole('alert').filter({ hasText: 'there is no type "strin"' }).waitFor()
    await page.locator('.cm-lintRange-error').first().waitFor()
    await page.getByRole('tab', { name: 'Form' }).click()
    await page.getByRole('group', { name: 'name' }).getByRole('alert').waitFor()
    await page.getByRole('tab', { name: 'JSON' }).click()
    await editor.fill(text('string'))
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'planet', level: 1 }).waitFor()
    await page.getByRole('tab', { name: 'New version' }).click()
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved planet 1.1.0').waitFor()
    await page.getByRole('tab', { name: 'Versions' }).click()
    await page.getByRole('listitem').filter({ hasText: 'schema.version.value' }).waitFor()
    await page
      .getByRole('row', { name: /^1\.1\.0/ })
      .getByRole('button', { name: 'Make default' })
      .click()
    await page.getByText('1.1.0 is the default.').waitFor()
    const answer = await server().ask('GET', '/metadata/planet/default')
    assert.equal(answer.json.schema.version.value, '1.1.0')
  })

  test('schemas: a version is written by form, after a report of what it would do', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/schemas/employee?tab=new')
    const field = (path: string) => page.getByRole('group', { name: path, exact: true })
    await page.getByText('Constraints and access of city').click()
    await field('city').getByLabel('at most characters').fill('4')
    await field('city').getByLabel('Roles that may find').fill('hr, audit')
    await field('teamId').getByRole('textbox', { name: 'Name' }).fill('name')
    await field('teamId').getByRole('textbox', { name: 'Name' }).blur()
    await page.getByRole('button', { name: 'Remove team', exact: true }).click()
    await page.getByRole('button', { name: 'Add a field to jobs.*' }).click()
    await field('jobs.*.field3').getByRole('textbox', { name: 'Name' }).fill('since')
    await field('jobs.*.field3').getByRole('textbox', { name: 'Name' }).blur()
    await field('jobs.*.since').getByLabel('Type').selectOption('date')
    await page.getByRole('button', { name: 'Check' }).click()
    const report = page.getByRole('region', { name: 'What would happen' })
    await report.getByText('Some violate the schema').waitFor()
    await report.getByRole('row', { name: /^city .* in 1\.1\.0/ }).waitFor()
    await report.getByRole('row', { name: 'city find anyone else yes in 1.0.0 no' }).waitFor()
    const stored = await server().ask('GET', '/metadata/employee')
    assert.equal(stored.json.length, 1, 'a dry run writes nothing')
    await field('city').getByLabel('at most characters').fill('40')
    assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0, 'the report is out of date')
    await page.getByRole('button', { name: 'Check' }).click()
    await report.getByText('None violates the schema').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved employee 1.1.0').waitFor()
    const { json } = await server().ask('GET', '/metadata/employee/1.1.0')
    const { city, teamId, team, jobs } = json.schema.fields
    assert.equal(city.constraints.maxLength, 40)
    assert.deepEqual(city.access.find, ['hr', 'audit'])
    assert.equal(teamId.type, 'string', 'a name that is taken is not accepted')
    assert.equal(team, undefined)
    assert.equal(jobs.items.fields.since.type, 'date')
  })

  test('schemas: references and row rules are written by form', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/schemas/employee?tab=new')
    const field = (path: string) => page.getByRole('group', { name: path, exact: true })
    await page.getByRole('textbox', { name: 'Version', exact: true }).first().fill('1.5.0')
    await page.getByRole('button', { name: 'Add a field', exact: true }).click()
    const added = page.getByRole('group', { name: /^field\d+$/ })
    await added.getByLabel('Type').selectOption('reference')
    await added.getByRole('textbox', { name: 'Name' }).fill('colleagues')
    await added.getByRole('textbox', { name: 'Name' }).blur()
    await field('colleagues').getByRole('combobox', { name: 'Entity' }).fill('employee')
    await field('colleagues').getByLabel('Field of the other entity').fill('teamId')
    await field('colleagues').getByLabel('equals the field beside colleagues').fill('teamId')
    await field('colleagues').getByRole('button', { name: 'Add a condition' }).click()
    await field('colleagues').getByLabel('Field of the other entity').last().fill('city')
    await field('colleagues').getByLabel('equals the field beside colleagues').last().fill('city')
    await page
      .getByRole('group', { name: 'Access to the entity' })
      .getByRole('button', { name: 'Role that may find some documents' })
      .click()
    const rule = page.getByRole('group', { name: /^Rule of .* for find$/ })
    await rule.getByRole('textbox', { name: 'Role' }).fill('clerk')
    await rule.getByLabel('where the field').fill('city')
    await rule.getByLabel('equals').selectOption('a claim of the caller')
    await rule.getByRole('textbox', { name: 'Claim' }).fill('city')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved employee 1.5.0').waitFor()
    const { json } = await server().ask('GET', '/metadata/employee/1.5.0')
    const { colleagues } = json.schema.fields
    assert.equal(colleagues.entity, 'employee')
    assert.deepEqual(colleagues.query, {
      $and: [
        { field: 'teamId', op: '=', rfield: '$parent.teamId' },
        { field: 'city', op: '=', rfield: '$parent.city' },
      ],
    })
    assert.deepEqual(json.schema.access.find.at(-1), {
      role: 'clerk',
      where: { field: 'city', op: '=', rvalue: '$caller.claims.city' },
    })
  })

  test('schemas: the graph has every entity and reference, the matrix every role', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/schemas')
    await page.getByText('employee → team').waitFor()
    await page.getByRole('region', { name: 'Graph of entities' }).getByText('employee').click()
    await page.getByRole('tab', { name: 'Access' }).click()
    const row = page.getByRole('row', { name: /^salary/ })
    await row.waitFor()
    assert.deepEqual(await row.getByRole('cell').allInnerTexts(), ['yes', 'no'])
  })

  test('events: a change appears in the live tail, with what changed and who did it', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/events')
    await page.getByText('following').waitFor()
    const body = { query: { field: '_id', op: '=', rvalue: '6' }, update: { $set: { city: 'Sion' } } }
    const headers = { 'Smalt-Principal': 'zoe' }
    await server().ask('POST', '/data/update/employee', { body, roles: ['hr'], headers })
    const event = page.getByRole('listitem').filter({ hasText: 'employee 6' })
    await event.getByText('Sion').waitFor()
    await event.getByText('by zoe').waitFor()
    await page.getByRole('tab', { name: 'Sinks' }).click()
    await page.getByRole('button', { name: 'New sink' }).click()
    const dialog = page.getByRole('dialog', { name: 'New webhook' })
    await dialog.getByLabel('Name').fill('far')
    await dialog.getByLabel('URL').fill('http://127.0.0.1:9/hook')
    await dialog.getByLabel('Roles').fill('hr')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByRole('alert').filter({ hasText: 'address' }).waitFor()
  })

  test('status: requests are counted and plotted, and a lock is acquired', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/status')
    await page.getByRole('img', { name: /^Requests: / }).waitFor()
    await page.getByRole('heading', { name: 'Slow routes since the start' }).waitFor()
    await page
      .getByRole('region', { name: 'Routes', exact: true })
      .getByRole('row', { name: /GET \/metrics/ })
      .waitFor()
    await page.getByLabel('Domain').fill(`d-${kind}`)
    await page.getByLabel('Caller').fill('me')
    await page.getByLabel('Resource').fill('thing')
    await page.getByRole('button', { name: 'acquire' }).click()
    await page.getByText('acquire: true').waitFor()
    await page.getByRole('button', { name: 'release' }).click()
    await page.getByText('release: true').waitFor()
  })

  test('saved searches: a filter is saved, and a search with a parameter is run', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open(
      `#/data/employee?as=admin&f=${encodeURIComponent('{"field":"level","op":"=","rvalue":"lead"}')}`,
    )
    await page.getByText('4 documents').waitFor()
    await page.getByTitle('Saved searches').click()
    await page.getByLabel('Save the current filter as').fill('leads')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'leads' }).waitFor()
    const query = { field: 'name', op: '=', rvalue: '${who}' }
    const data = { name: 'byName', entity: 'employee', query, parameters: [{ name: 'who' }] }
    await server().ask('PUT', '/data/insert/savedSearch', { body: { data }, roles: ['admin'] })
    await page.reload()
    await page.getByTitle('Saved searches').click()
    await page.getByRole('button', { name: 'byName' }).click()
    await page.getByLabel('who').fill('Lea')
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByText('1 document', { exact: true }).waitFor()
    await page.getByRole('gridcell', { name: 'Lea', exact: true }).waitFor()
  })

  test("api: an operation is tried with an entity of one's own, and shown as curl", async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/api/findSimple?as=hr')
    await page.getByRole('link', { name: /\/metadata\/\{entity\}\/lint/ }).click()
    await page.getByRole('heading', { name: 'Show what is doubtful about an entity' }).waitFor()
    // A box to type in until the entities are known.
    await page.getByRole('combobox', { name: 'entity' }).selectOption('team')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByLabel('Answer').getByText('"findings"').waitFor()
    assert.match(await page.getByLabel('As curl').innerText(), /curl -sS -X GET '.*\/metadata\/team\/lint'/)
  })

  test('connection: what is lost is said, and tried again', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/team')
    await page.getByRole('gridcell', { name: 'Blue team' }).waitFor()
    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'Read again' }).click()
    await page.getByText('the service cannot be reached').waitFor()
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('gridcell', { name: 'Blue team' }).waitFor()
  })
})
