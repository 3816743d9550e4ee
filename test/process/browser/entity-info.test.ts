/** Indexes and hooks by form: added, changed, moved and removed; what the form does not know stays; errors at their part. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { Json } from '../../../src/base/json/json.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { company } from './company.ts'
import { site } from './visit.ts'

onEveryStore(() => {
  const { server, visit } = site(company)

  /** Entity info of an entity of its own, so that tests do not meet. */
  async function define(entity: string, info: Readonly<Record<string, Json>>): Promise<void> {
    const answer = await server().ask('PUT', `/metadata/${entity}/1.0.0`, {
      body: {
        entityInfo: { name: entity, defaultVersion: '1.0.0', ...info },
        schema: {
          name: entity,
          version: { value: '1.0.0', changelog: 'first version' },
          status: { value: 'active' },
          access: { find: ['anyone'], insert: ['anyone'], update: ['anyone'], delete: ['anyone'] },
          fields: {
            title: { type: 'string' },
            year: { type: 'integer' },
            tags: { type: 'array', items: { type: 'string' } },
            cast: {
              type: 'array',
              items: { type: 'object', fields: { name: { type: 'string' }, age: { type: 'integer' } } },
            },
          },
        },
      },
    })
    assert.equal(answer.status, 200, answer.text)
  }

  const infoOf = async (entity: string) =>
    (await server().ask('GET', `/metadata/${entity}/1.0.0`)).json.entityInfo

  test('indexes: one of values is added, with order, case and uniqueness, and completed paths', async () => {
    await define('film', { indexes: [] })
    await using visited = await visit()
    const { page, open } = visited
    await open('#/schemas/film?tab=edit')
    await page.getByRole('button', { name: 'Add an index' }).click()
    const index = group(page, /^Index (on|without)/)
    await index.getByLabel('Name').fill('by year')
    const field = index.getByRole('combobox', { name: 'Field' })
    assert.deepEqual(await completions(field), [
      '_id',
      'title',
      'year',
      'tags.*',
      'cast.*.name',
      'cast.*.age',
    ])
    await field.fill('title')
    await index.getByRole('button', { name: 'Add a field to the index' }).click()
    await field.last().fill('year')
    await index.getByLabel('Order').last().selectOption('descending')
    await index.getByLabel('case is ignored').first().check()
    await index.getByLabel('unique').check()
    await index.getByRole('button', { name: 'Move year up' }).click()
    await save(page, 'film')
    const { indexes } = await infoOf('film')
    assert.deepEqual(
      indexes.find(({ name }: { name: string }) => name === 'by year'),
      {
        name: 'by year',
        unique: true,
        fields: [
          { field: 'year', dir: '$desc', caseInsensitive: false },
          { field: 'title', dir: '$asc', caseInsensitive: true },
        ],
      },
    )
    assert.equal(indexes.length, 2, 'the index on _id is still there')
  })

  test('indexes: one of words is added by the keyboard, and errors stand at the index', async () => {
    await define('book', { indexes: [{ name: 'by year', fields: [{ field: 'year' }] }] })
    await using visited = await visit()
    const { page, open } = visited
    await open('#/schemas/book?tab=edit')
    await page.getByRole('button', { name: 'Add an index' }).focus()
    await page.keyboard.press('Enter')
    const index = group(page, /^Index (without|on title)/)
    await index.getByLabel('Kind').selectOption('text')
    await index.getByLabel('Language').selectOption('german')
    assert.deepEqual(await completions(index.getByRole('combobox', { name: 'Field' })), [
      '_id',
      'title',
      'tags.*',
      'cast.*.name',
    ])
    await index.getByRole('combobox', { name: 'Field' }).fill('title')
    await index.getByLabel('Weight').fill('much')
    await page.getByRole('button', { name: 'Check' }).click()
    await index.getByRole('alert').filter({ hasText: '"name"' }).waitFor()
    assert.equal(await group(page, 'Index on year').getByRole('alert').count(), 0)
    await index.getByLabel('Name').fill('words')
    await page.getByRole('button', { name: 'Check' }).click()
    await index.getByRole('alert').filter({ hasText: 'a weight is an integer' }).waitFor()
    await index.getByLabel('Weight').fill('3')
    await group(page, 'Index on year').getByLabel('Kind').selectOption('text')
    await group(page, 'Index on year').getByLabel('Name').fill('')
    await page.getByRole('button', { name: 'Check' }).click()
    await group(page, 'Index on year').getByRole('alert').waitFor()
    await page.getByRole('tab', { name: 'JSON' }).click()
    await page.locator('.cm-lintRange-error').first().waitFor()
    await page.getByRole('tab', { name: 'Form' }).click()
    await group(page, 'Index on year').getByLabel('Kind').selectOption('values')
    // an error that only the versions together show stands at the list
    await group(page, 'Index on year').getByRole('combobox', { name: 'Field' }).fill('cast')
    await page.getByRole('button', { name: 'Check' }).click()
    const list = page.getByRole('group', { name: 'Indexes', exact: true })
    await list.getByRole('alert').filter({ hasText: 'no simple, comparable field' }).waitFor()
    await group(page, 'Index on cast')
      .getByRole('button', { name: /^Remove: / })
      .focus()
    await page.keyboard.press('Enter')
    await page.locator('button:focus').filter({ hasText: 'Add an index' }).waitFor()
    await save(page, 'book')
    const { indexes } = await infoOf('book')
    assert.deepEqual(indexes[1], {
      name: 'words',
      kind: 'text',
      language: 'german',
      fields: [{ field: 'title', weight: 3 }],
    })
    assert.equal(indexes.length, 2, 'one index was removed')
  })

  test('hooks: one is added, changed and removed, with projections by form', async () => {
    const kept = { name: 'kept', actions: ['delete'], configuration: { watchProjection: { field: 'year' } } }
    await define('song', { hooks: [kept, { name: 'gone', actions: ['insert'] }] })
    await using visited = await visit()
    const { page, open } = visited
    await open('#/schemas/song?tab=edit')
    await page.getByRole('button', { name: 'Add a hook' }).click()
    await page.getByRole('button', { name: 'Check' }).click()
    const hook = group(page, /^Hook (without a name|changes)$/)
    await hook.getByRole('alert').filter({ hasText: 'a hook needs a "name"' }).waitFor()
    await hook.getByRole('textbox', { name: 'Name' }).fill('changes')
    await hook.getByLabel('on delete').uncheck()
    await hook.getByLabel('Kind').selectOption('audit')
    await hook.getByLabel('the order of array elements').check()
    const watched = hook.getByRole('group', { name: 'Watched fields' })
    assert.equal(
      (await completions(watched.getByRole('combobox', { name: 'Field' }))).includes('cast.*.name'),
      true,
    )
    await watched.getByRole('combobox', { name: 'Field' }).fill('cast')
    await hook.getByRole('button', { name: 'Add to included fields' }).click()
    await hook.getByRole('group', { name: 'Included fields' }).getByRole('combobox').fill('title')
    await hook.getByRole('button', { name: 'Add to projection' }).click()
    await hook.getByRole('group', { name: 'Projection' }).getByRole('combobox').fill('tags')
    await group(page, 'Hook gone').getByRole('button', { name: 'Remove: Hook gone' }).click()
    await save(page, 'song')
    assert.deepEqual((await infoOf('song')).hooks, [
      kept,
      {
        name: 'changes',
        projection: [{ field: 'tags' }],
        actions: ['insert', 'update'],
        configuration: {
          watchProjection: [{ field: 'cast', recursive: true }],
          kind: 'audit',
          arrayOrderingSignificant: true,
          includeProjection: [{ field: 'title' }],
        },
      },
    ])
  })

  test('indexes and hooks: what the form does not know stays, and JSON follows every change', async () => {
    const index = {
      name: 'own',
      unique: false,
      fields: [{ field: 'year', dir: '$asc', caseInsensitive: false, bits: 12 }],
      owner: 'ops',
    }
    const foreign = { name: 'queue', actions: ['insert'], configuration: { topic: 'a', size: 3 }, note: 'n' }
    const partly = {
      name: 'partly',
      actions: ['update'],
      configuration: { kind: 'audit', watchProjection: [{ field: 'title', include: false }], extra: [1] },
    }
    await define('game', { indexes: [index], hooks: [foreign, partly], comment: 'ours' })
    await using visited = await visit()
    const { page, open } = visited
    await open('#/schemas/game?tab=edit')
    await group(page, 'Index on year').getByLabel('Order').selectOption('descending')
    const configuration = group(page, 'Hook queue').getByLabel('Configuration, of another program')
    assert.equal(
      await group(page, 'Hook partly').getByLabel('Watched fields').inputValue(),
      '[{"field":"title","include":false}]',
      'a projection that is more than a list of fields is JSON',
    )
    await page.getByRole('tab', { name: 'JSON' }).click()
    const editor = page.getByRole('textbox', { name: 'Metadata as JSON' })
    await editor.getByText('"dir": "$desc"').waitFor()
    const { entityInfo, schema } = (await server().ask('GET', '/metadata/game/1.0.0')).json
    const [own] = entityInfo.indexes
    // as the page shows it: without what the service adds
    delete schema._id
    for (const name of ['_id', 'objectType', 'tags#', 'cast#']) delete schema.fields[name]
    await editor.fill(JSON.stringify({ entityInfo: { ...entityInfo, indexes: { of: 'nobody' } }, schema }))
    await page.getByRole('tab', { name: 'Form' }).click()
    assert.equal(await page.getByLabel('Indexes as JSON').inputValue(), '{"of":"nobody"}')
    const indexes = [{ ...own, fields: [{ ...own.fields[0], dir: '$desc' }] }]
    await page.getByLabel('Indexes as JSON').fill(JSON.stringify(indexes))
    await group(page, 'Index on year').getByLabel('Name').fill('renamed')
    await group(page, 'Hook partly').getByLabel('on insert').check()
    await configuration.fill('{"topic":"b","size":3}')
    await save(page, 'game')
    const info = await infoOf('game')
    assert.deepEqual(info.indexes[0], {
      ...index,
      name: 'renamed',
      fields: [{ ...index.fields[0], dir: '$desc' }],
    })
    assert.deepEqual(info.hooks, [
      { ...foreign, configuration: { topic: 'b', size: 3 } },
      { ...partly, actions: ['insert', 'update'] },
    ])
    assert.equal(info.comment, 'ours')
  })

  test('hooks: JSON that is not finished is not left out silently', async () => {
    const foreign = { name: 'queue', actions: ['insert'], configuration: { topic: 'a' } }
    await define('play', { hooks: [foreign] })
    await using visited = await visit()
    const { page, open } = visited
    await open('#/schemas/play?tab=edit')
    const hook = group(page, 'Hook queue')
    const configuration = hook.getByLabel('Configuration, of another program')
    const check = page.getByRole('button', { name: 'Check' })
    await hook.getByLabel('on update').check()
    await configuration.fill('{"topic":"b"')
    await check.click()
    await configuration.and(page.locator(':focus')).waitFor()
    await configuration.fill('{"topic":"b"}')
    await check.click()
    const saving = page.getByRole('button', { name: 'Save', exact: true })
    await saving.waitFor()
    // not after the check either
    await configuration.fill('{"topic":"c"')
    await saving.click()
    await configuration.and(page.locator(':focus')).waitFor()
    assert.deepEqual((await infoOf('play')).hooks, [foreign])
    await configuration.fill('{"topic":"c"}')
    await save(page, 'play')
    const [written] = (await infoOf('play')).hooks
    assert.deepEqual(written, { ...foreign, actions: ['insert', 'update'], configuration: { topic: 'c' } })
  })
})

function group(page: Page, name: string | RegExp): Locator {
  return page.getByRole('group', typeof name === 'string' ? { name, exact: true } : { name })
}

/** What the browser offers in the input. */
async function completions(input: Locator): Promise<readonly string[]> {
  const list = await input.first().getAttribute('list')
  return await input.page().locator(`datalist[id="${list}"] option`).allTextContents()
}

async function save(page: Page, entity: string): Promise<void> {
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(`Saved ${entity} 1.0.0`).waitFor()
}
