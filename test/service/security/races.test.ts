/** Row 22: of many who do at once what only one can do, one does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { BOSS, openOffice } from './office.ts'
import { onEveryStore } from '../../support/store-kind.ts'

onEveryStore(() => {
  const office = openOffice()

  const RACES: readonly [rule: string, method: string, path: string, body: JsonObject][] = [
    ['inserts', 'PUT', '/data/insert/raced', { data: { key: 'same' } }],
    ['inserts of one _id', 'PUT', '/data/insert/raced', { data: { _id: 'same' } }],
    ['upserts', 'POST', '/data/save/raced', { data: { _id: 'saved', key: 'saved' }, upsert: true }],
    [
      'atomic bulks',
      'POST',
      '/data/bulk',
      {
        atomic: true,
        requests: [{ seq: 1, op: 'insert', request: { entity: 'raced', data: { key: 'bulk' } } }],
      },
    ],
  ]
  test('races: of 50 that make the same document at once one does', async () => {
    const indexes = [{ name: 'key', unique: true, fields: [{ field: 'key' }] }]
    await office().define(
      'raced',
      { _id: { type: 'string' }, key: { type: 'string' } },
      { info: { indexes } },
    )
    for (const [rule, method, path, body] of RACES) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => office().ask(method, path, { body })),
      )
      const done = answers.filter(({ text }) => text.includes('"modifiedCount":1'))
      assert.equal(done.length, 1, rule)
    }
    assert.equal((await office().ask('GET', '/data/find/raced')).json.matchCount, RACES.length)
  })

  test('races: of 50 updates that need the same version one is done', async () => {
    const found = await office().ask('GET', '/data/find/person?Q=_id:1', { roles: BOSS })
    const { documentVersion } = found.json.resultMetadata[0]
    const update = (n: number): JsonObject => ({
      query: { field: '_id', op: '=', rvalue: '1' },
      update: { $set: { n } },
      onlyIfCurrent: true,
      documentVersions: [documentVersion],
    })
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        office().ask('POST', '/data/update/person', { body: update(100 + i), roles: BOSS }),
      ),
    )
    assert.equal(answers.filter(({ json }) => json.modifiedCount === 1).length, 1)
    assert.equal(answers.filter(({ text }) => text.includes('store-crud:ConcurrentUpdate')).length, 49)
  })
})
