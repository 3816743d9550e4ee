/** The form of a document, typed into key by key: what is written is what was typed, and nothing else changes. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Locator } from 'playwright-core'
import type { Json } from '../../../src/base/json/json.ts'
import type { TestServer } from '../../support/server.ts'
import { insert, site } from './visit.ts'

const ACCESS = { find: ['anyone'], insert: ['anyone'], update: ['anyone'], delete: ['anyone'] }
const FIELDS = {
  note: { type: 'string' },
  counts: { type: 'array', items: { type: 'integer' } },
  free: { type: 'any' },
  parts: { type: 'array', items: { type: 'any' } },
  rows: { type: 'array', items: { type: 'object', fields: { cell: { type: 'string' } } } },
}

async function things(server: TestServer): Promise<void> {
  for (const [version, fields] of [
    ['1.0.0', FIELDS],
    ['2.0.0', { ...FIELDS, later: { type: 'string' } }],
  ] as const) {
    const body = {
      entityInfo: { name: 'thing', defaultVersion: '1.0.0' },
      schema: {
        name: 'thing',
        version: { value: version, changelog: 'a version' },
        status: { value: 'active' },
        access: ACCESS,
        fields,
      },
    }
    const answer = await server.ask('PUT', `/metadata/thing/${version}`, { body })
    assert.equal(answer.status, 200, answer.text)
  }
}

void suite('document form', () => {
  const { server, visit } = site(things)

  test('form: a text is typed on when it becomes long, and short again', async () => {
    await insert(server(), 'thing', [{ _id: 'long', note: '' }])
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/thing?doc="long"')
    const panel = page.getByRole('complementary', { name: 'thing long' })
    await panel.getByLabel('note').focus()
    const text = 'never gonna give you up, never gonna let you down, never gonna run around'
    await page.keyboard.type(text)
    for (let i = 0; i < 30; i++) await page.keyboard.press('Backspace')
    await page.keyboard.type('!')
    await panel.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    assert.equal((await stored('long'))['note'], `${text.slice(0, -30)}!`)
  })

  test('form: an emptied element of a list stays in its place', async () => {
    await insert(server(), 'thing', [{ _id: 'list', counts: [1, 2, 3] }])
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/thing?doc="list"')
    const panel = page.getByRole('complementary', { name: 'thing list' })
    await panel.getByRole('textbox', { name: 'counts 1' }).fill('')
    await page.keyboard.type('9')
    await panel.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    assert.deepEqual((await stored('list'))['counts'], [9, 2, 3])
  })

  test('form: JSON in a field follows its value, whatever changes it', async () => {
    await insert(server(), 'thing', [{ _id: 'any', free: { a: 1 }, parts: ['one', 'two'] }])
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/thing?doc="any"')
    const panel = page.getByRole('complementary', { name: 'thing any' })
    await panel.getByRole('button', { name: 'Remove parts 1' }).click()
    await shows(panel.getByRole('textbox', { name: 'parts 1' }), '"two"')
    const free = panel.getByRole('textbox', { name: 'free' })
    await panel.getByRole('button', { name: 'null for free' }).click()
    await shows(free, 'null')
    await panel.getByRole('button', { name: 'unset free' }).click()
    await shows(free, '')
    await panel.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    const { free: written, parts } = await stored('any')
    assert.deepEqual({ written, parts }, { written: undefined, parts: ['two'] })
  })

  test('form: JSON that is not finished is not left out silently', async () => {
    await insert(server(), 'thing', [{ _id: 'broken', note: 'a', free: 1 }])
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/thing?doc="broken"')
    const panel = page.getByRole('complementary', { name: 'thing broken' })
    await panel.getByLabel('note').fill('b')
    const free = panel.getByRole('textbox', { name: 'free' })
    await free.fill('{"a": 1')
    await panel.getByRole('button', { name: 'Save' }).click()
    await free.and(page.locator(':focus')).waitFor()
    assert.equal((await stored('broken'))['note'], 'a')
    await free.fill('{"a": 1}')
    await panel.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    assert.deepEqual((await stored('broken'))['free'], { a: 1 })
  })

  test('form: members of any JSON are kept, whatever their names', async () => {
    await insert(server(), 'thing', [{ _id: 'hash', note: 'a', free: { 'a#': 1, b: [{ 'c#': 2 }] } }])
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/thing?doc="hash"')
    const panel = page.getByRole('complementary', { name: 'thing hash' })
    await panel.getByLabel('note').fill('b')
    await panel.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    assert.deepEqual((await stored('hash'))['free'], { 'a#': 1, b: [{ 'c#': 2 }] })
  })

  test('form: in another version, the document is edited as that version has it', async () => {
    const data = [{ _id: 'versions', note: 'a', later: 'only in 2.0.0' }]
    const inserted = await server().ask('PUT', '/data/insert/thing/2.0.0', { body: { data } })
    assert.equal(inserted.json.modifiedCount, 1, inserted.text)
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/thing?doc="versions"')
    const panel = page.getByRole('complementary', { name: 'thing versions' })
    await panel.getByLabel('note').waitFor()
    await page.getByRole('combobox', { name: 'Version' }).selectOption('2.0.0')
    await shows(panel.getByLabel('later'), 'only in 2.0.0')
    await panel.getByLabel('note').fill('b')
    await panel.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    const { note, later } = await stored('versions', '2.0.0')
    assert.deepEqual({ note, later }, { note: 'b', later: 'only in 2.0.0' })
  })

  test('form: a delete that cannot be undone says so', async () => {
    await insert(server(), 'thing', [{ _id: 'gone', note: 'mine' }])
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/thing?doc="gone"')
    const panel = page.getByRole('complementary', { name: 'thing gone' })
    await panel.getByRole('button', { name: 'Delete' }).click()
    await panel.getByRole('button', { name: 'Really delete?' }).click()
    await page.getByText('Deleted.').waitFor()
    await insert(server(), 'thing', [{ _id: 'gone', note: 'of somebody else' }])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('It could not be inserted again').waitFor()
  })

  test('form: JSON that is typed while the document is saved stays', async () => {
    await insert(server(), 'thing', [{ _id: 'quick', note: 'a' }])
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/thing?doc="quick"')
    const panel = page.getByRole('complementary', { name: 'thing quick' })
    await panel.getByRole('tab', { name: 'JSON' }).click()
    const editor = panel.getByRole('textbox', { name: 'Document as JSON' })
    await editor.fill('{"_id": "quick", "note": "b"}')
    const { promise: isTyped, resolve: release } = Promise.withResolvers<void>()
    await page.route('**/data/save/**', async (route) => {
      await isTyped
      await route.continue()
    })
    await panel.getByRole('button', { name: 'Save' }).click()
    await panel.getByRole('button', { name: 'Writing…' }).waitFor()
    await editor.fill('{"_id": "quick", "note": "c"}')
    release()
    await page.getByText('Saved.').waitFor()
    await panel.getByRole('button', { name: 'Save' }).click()
    await panel.getByRole('button', { name: 'Save' }).and(page.locator(':disabled')).waitFor()
    assert.equal((await stored('quick'))['note'], 'c')
  })

  test('form: a conflict shows what was typed as JSON', async () => {
    await insert(server(), 'thing', [{ _id: 'both', note: 'a' }])
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/thing?doc="both"')
    const panel = page.getByRole('complementary', { name: 'thing both' })
    await panel.getByRole('tab', { name: 'JSON' }).click()
    await panel.getByRole('textbox', { name: 'Document as JSON' }).fill('{"_id": "both", "note": "mine"}')
    const update = { query: { field: '_id', op: '=', rvalue: 'both' }, update: { $set: { note: 'theirs' } } }
    await server().ask('POST', '/data/update/thing', { body: update })
    await panel.getByRole('button', { name: 'Save' }).click()
    await panel.getByRole('row', { name: 'note theirs mine' }).waitFor()
  })

  test('form: a new document is empty, also after a copy that was left', async () => {
    await insert(server(), 'thing', [
      { _id: 'source', note: 'a' },
      { _id: 'other', note: 'b' },
    ])
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/thing?doc="source"')
    await page.getByRole('button', { name: 'Copy' }).click()
    const fresh = page.getByRole('complementary', { name: 'New thing' })
    await shows(fresh.getByLabel('note'), 'a')
    await page.getByRole('gridcell', { name: 'other', exact: true }).click()
    await page.getByRole('complementary', { name: 'thing other' }).getByLabel('note').waitFor()
    await page.getByRole('button', { name: 'Insert', exact: true }).click()
    await shows(fresh.getByLabel('note'), '')
  })

  test('form: an error that belongs to no input is shown above them', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/thing?doc=new')
    const panel = page.getByRole('complementary', { name: 'New thing' })
    await panel.getByRole('tab', { name: 'JSON' }).click()
    await panel.getByRole('textbox', { name: 'Document as JSON' }).fill('{"rows": [5]}')
    await panel.getByRole('tab', { name: 'Form' }).click()
    await panel.getByRole('button', { name: 'Insert' }).click()
    await panel.getByRole('alert').filter({ hasText: 'rows' }).waitFor()
  })

  test('form: a refusal without any errors of the service is shown', async () => {
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/thing?doc=new')
    const panel = page.getByRole('complementary', { name: 'New thing' })
    await panel.getByLabel('note').fill('a')
    await page.route('**/data/insert/**', (route) =>
      route.fulfill({ status: 502, body: '<h1>Bad Gateway</h1>' }),
    )
    await panel.getByRole('button', { name: 'Insert' }).click()
    await panel.getByRole('alert').filter({ hasText: 'the service answered 502' }).waitFor()
  })

  test('form: a list with thousands of elements is shown in parts, and errors of the others are named', async () => {
    const counts = Array.from({ length: 10_000 }, (_, i) => i)
    await insert(server(), 'thing', [{ _id: 'thousands', counts }])
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/thing?doc="thousands"')
    const panel = page.getByRole('complementary', { name: 'thing thousands' })
    const part = panel.getByLabel('Elements of counts that are shown')
    await part.selectOption('5001 to 5050')
    await panel.getByLabel('counts 5002', { exact: true }).fill('many')
    await part.selectOption('1 to 50')
    await panel.getByRole('button', { name: 'Save' }).click()
    await panel.getByText(/^counts 5002: /).waitFor()
    await part.selectOption('5001 to 5050')
    await panel.getByLabel('counts 5002', { exact: true }).fill('7')
    // a new element is shown
    await panel.getByRole('button', { name: 'Add to counts' }).click()
    await panel.getByLabel('counts 10001', { exact: true }).fill('8')
    await panel.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    assert.deepEqual((await stored('thousands'))['counts'], [...counts.with(5_001, 7), 8])
    await panel.getByRole('button', { name: 'Remove counts 10001' }).click()
    await panel.getByLabel('counts 10000', { exact: true }).waitFor()
  })

  test('form: a text keeps its line ends, except where it is typed into', async () => {
    await insert(server(), 'thing', [
      { _id: 'windows', note: 'one\r\ntwo\r\nthree' },
      { _id: 'return', note: 'one\rtwo' },
    ])
    await using visited = await visit()
    const { page, open } = visited
    for (const [id, written] of [
      ['windows', 'one\r\ntwo\r\nthree!\r\nfour'],
      ['return', 'one\rtwo!\rfour'],
    ] as const) {
      await open(`#/data/thing?doc="${id}"`)
      const panel = page.getByRole('complementary', { name: `thing ${id}` })
      await panel.getByLabel('note').press('Control+End')
      await page.keyboard.type('!\nfour')
      const saved = page.waitForResponse('**/data/save/**')
      await panel.getByRole('button', { name: 'Save' }).click()
      await saved
      assert.equal((await stored(id))['note'], written)
    }
  })

  test('form: a document that may not be found after it is saved is closed', async () => {
    const own = { role: 'anyone', where: { field: 'owner', op: '=', rvalue: '$caller.principal' } }
    const fields = { owner: { type: 'string' } }
    await server().define('parcel', fields, { schema: { access: { ...ACCESS, find: [own] } } })
    await insert(server(), 'parcel', [{ _id: '1', owner: 'ann' }])
    await using visited = await visit()
    const { page, open } = visited
    await open('#/data/parcel?who=ann&doc="1"')
    const panel = page.getByRole('complementary', { name: 'parcel 1' })
    await panel.getByLabel('owner').fill('bob')
    await panel.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved. You may not find the document.').waitFor()
    await panel.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Insert', exact: true }).click()
    const fresh = page.getByRole('complementary', { name: 'New parcel' })
    await fresh.getByLabel('owner').fill('cy')
    await fresh.getByRole('button', { name: 'Insert' }).click()
    await page.getByText('Inserted. You may not find the document.').waitFor()
    await fresh.waitFor({ state: 'detached' })
  })

  async function stored(id: string, version = '1.0.0'): Promise<Record<string, Json | undefined>> {
    const answer = await server().ask('GET', `/data/find/thing/${version}?Q=_id:${id}`)
    return answer.json.processed[0]
  }
})

/** Waits until the control holds the text. */
async function shows(control: Locator, text: string): Promise<void> {
  await control.waitFor()
  await control
    .page()
    .waitForFunction(([element, wanted]) => (element as { value: string }).value === wanted, [
      await control.elementHandle(),
      text,
    ] as const)
}
